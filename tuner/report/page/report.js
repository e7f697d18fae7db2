"use strict";
// The index alone: a row a result.
const report = JSON.parse(document.getElementById("data").textContent);
const table = document.createElement("table");
for (const job of report.jobs)
  for (const result of job.results.length ? job.results : [{}]) {
    const row = table.insertRow();
    const ratio = result.ratio ? result.ratio.value.toFixed(3) : "";
    for (const text of [job.name, ratio, result.verdict || "", result.evaluations || 0, result.device || "", job.error || ""])
      row.insertCell().textContent = text;
  }
document.getElementById("report").append(table);
if (report.jobs.some(job => job.running)) setTimeout(() => location.reload(), 30000);
