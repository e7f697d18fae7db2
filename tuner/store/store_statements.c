// The statements that are prepared once and kept. Those that name the fields of a trial come from store_fields.c.
#include <stdlib.h>

#include "tuner/store/store_internal.h"

// A "+" keeps SQLite from an index that is in another order than the rows: reading them all in their order is six times
// as fast.
static const char *const statement_text[STATEMENT_COUNT] = {
    [STATEMENT_ADD_COUNTER] =
        "INSERT OR REPLACE INTO trial_counters (trial, problem, stage, key, value) VALUES (?,?,?,?,?)",
    [STATEMENT_ADD_VERDICT] = "INSERT INTO verdicts (trial, status, reason, written) VALUES (?,?,?,?)",
    [STATEMENT_VERDICTS] = "SELECT 1 FROM verdicts WHERE trial = ? LIMIT 1",
    [STATEMENT_SET_COUNTED] = "UPDATE trials SET counted = 1 WHERE id = ?",
    [STATEMENT_COUNTERS] =
        "SELECT problem, stage, key, value FROM trial_counters WHERE trial = ? ORDER BY problem, stage, key",
    [STATEMENT_IDS] = "SELECT id FROM trials WHERE +environment = ? ORDER BY id LIMIT ?",
    [STATEMENT_BEST_IDS] = "SELECT t.id FROM " STORE_JUDGED_TRIALS " WHERE +t.environment = ? AND " STORE_JUDGED_STATUS
                           " = 'ok' AND t.objective IS NOT NULL ORDER BY t.objective, t.id LIMIT ?",
    [STATEMENT_COUNTS] =
        "SELECT " STORE_JUDGED_STATUS ", count(*) FROM " STORE_JUDGED_TRIALS " WHERE +t.environment = ? GROUP BY 1",
    [STATEMENT_ELSEWHERE] = "SELECT config, device FROM (SELECT t.config, e.device, e.used,"
                            " row_number() OVER (PARTITION BY t.environment ORDER BY t.objective) AS place"
                            " FROM " STORE_JUDGED_TRIALS " JOIN environments e ON e.id = t.environment"
                            " WHERE t.environment <> ? AND " STORE_JUDGED_STATUS " = 'ok')"
                            " ORDER BY place, used DESC LIMIT ?",
    // status = 'ok': so that the index is used. A trial that never was ok gets no counters.
    [STATEMENT_UNCOUNTED] =
        "SELECT t.id FROM " STORE_JUDGED_TRIALS " WHERE t.environment = ? AND t.status = 'ok' AND " STORE_JUDGED_STATUS
        " = 'ok' AND t.counted = 0 ORDER BY t.id LIMIT ?",
    [STATEMENT_PUT_DOCUMENT] =
        "INSERT INTO documents (environment, trial, kind, written, json) VALUES (nullif(?,0),nullif(?,0),?,?,?)",
    [STATEMENT_DOCUMENTS] =
        "SELECT written, json FROM documents WHERE kind = ? AND (environment = ? OR environment IS NULL)"
        " AND trial IS NULL ORDER BY id DESC LIMIT ?",
    [STATEMENT_TRIAL_DOCUMENTS] =
        "SELECT written, json FROM documents WHERE kind = ? AND trial = ? ORDER BY id DESC LIMIT ?",
    [STATEMENT_PUT_BLOB] = "INSERT INTO blobs (hash, bytes) VALUES (?,?)"
                           " ON CONFLICT (hash) DO UPDATE SET bytes = excluded.bytes WHERE bytes <> excluded.bytes",
    [STATEMENT_GET_BLOB] = "SELECT bytes FROM blobs WHERE hash = ?",
    [STATEMENT_SET_TRIAL_BLOB] = "INSERT OR REPLACE INTO trial_blobs (trial, kind, hash) VALUES (?,?,?)",
    [STATEMENT_TRIAL_BLOB] = "SELECT hash FROM trial_blobs WHERE trial = ? AND kind = ?",
};

sqlite3_stmt *store_statement(struct store *store, enum statement which, struct error *err)
{
    sqlite3_stmt **statement = &store->statements[which];
    if (!*statement) {
        char *made = store_field_statement(store, which);
        int code = sqlite3_prepare_v3(store->db, made ? made : statement_text[which], -1, SQLITE_PREPARE_PERSISTENT,
                                      statement, NULL);
        free(made);
        if (code != SQLITE_OK) {
            store_failed(store, err);
            return NULL;
        }
    }
    sqlite3_reset(*statement);
    sqlite3_clear_bindings(*statement);
    return *statement;
}
