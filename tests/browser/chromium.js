// Headless Chromium, driven over a pipe by the DevTools protocol. Messages are JSON, each followed by a zero byte, on
// the browser's file descriptors 3 and 4.
'use strict';

const {spawn, spawnSync} = require('node:child_process');
const fs = require('node:fs'),
    os = require('node:os'),
    path = require('node:path');

const PROGRAMS = [process.env.CHROMIUM, 'chromium', 'chromium-browser', 'google-chrome'].filter(Boolean);

// The name of a Chromium that starts, or null.
function findChromium() {
    return PROGRAMS.find(name => spawnSync(name, ['--version'], {stdio: 'ignore'}).status === 0) ?? null;
}

const ANSWER_SECONDS = 60;

class Chromium {
    static async start() {
        const self = new Chromium();
        self.folder = fs.mkdtempSync(path.join(os.tmpdir(), 'sweetspot-browser-'));
        self.process = spawn(
            findChromium(),
            [
                '--headless=new',
                '--hide-scrollbars',
                '--no-sandbox',
                '--disable-gpu',
                '--no-first-run',
                '--disable-dev-shm-usage',
                '--disable-background-networking',
                '--disable-component-update',
                '--mute-audio',
                '--remote-debugging-pipe',
                `--user-data-dir=${self.folder}`,
                'about:blank',
            ],
            {stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe']}
        );
        self.waiting = new Map();
        self.listeners = new Map();
        self.sent = 0;
        let rest = Buffer.alloc(0);
        self.process.stdio[4].on('data', bytes => {
            rest = Buffer.concat([rest, bytes]);
            for (let end; (end = rest.indexOf(0)) >= 0; rest = rest.subarray(end + 1)) {
                self.receive(JSON.parse(rest.subarray(0, end).toString()));
            }
        });
        self.process.stdio[3].on('error', () => {});
        await self.send('Browser.getVersion');
        return self;
    }

    receive({id, result, error, method, params, sessionId}) {
        if (id === undefined) {
            this.listeners.get(sessionId)?.(method, params);
            return;
        }
        const {resolve, reject, timer} = this.waiting.get(id);
        clearTimeout(timer);
        this.waiting.delete(id);
        if (error) reject(new Error(error.message));
        else resolve(result);
    }

    send(method, params = {}, sessionId = undefined) {
        const id = ++this.sent;
        return new Promise((resolve, reject) => {
            const timer = setTimeout(
                () => reject(new Error(`${method}: no answer in ${ANSWER_SECONDS} s`)),
                ANSWER_SECONDS * 1000
            );
            this.waiting.set(id, {resolve, reject, timer});
            this.process.stdio[3].write(`${JSON.stringify({id, method, params, sessionId})}\0`);
        });
    }

    // The marks that `work` sets in a page (performance.mark). For each mark: the processor time in milliseconds that
    // the page's main thread had used by then. On an idle machine, that is the time a user waits.
    async marks(work) {
        const marks = {};
        const ended = new Promise(resolve => {
            this.listeners.set(undefined, (method, params) => {
                if (method === 'Tracing.tracingComplete') resolve();
                if (method !== 'Tracing.dataCollected') return;
                for (const {name, ph, tts} of params.value) if (ph === 'I' && tts) marks[name] = tts / 1000;
            });
        });
        const traceConfig = {includedCategories: ['blink.user_timing']};
        await this.send('Tracing.start', {transferMode: 'ReportEvents', traceConfig});
        try {
            await work();
        } finally {
            await this.send('Tracing.end');
            await ended;
        }
        return marks;
    }

    // Opens a tab and loads the file. The network is off.
    async open(file, {width = 1200, height = 900, dark = false, hash = ''} = {}) {
        const {targetId} = await this.send('Target.createTarget', {url: 'about:blank'});
        const {sessionId} = await this.send('Target.attachToTarget', {targetId, flatten: true});
        const tab = new Tab(this, sessionId, targetId);
        await tab.begin(width, height, dark);
        await tab.load(`file://${path.resolve(file)}${hash}`);
        return tab;
    }

    async stop() {
        const ended = new Promise(resolve => this.process.once('exit', resolve));
        this.send('Browser.close').catch(() => {});
        const timer = setTimeout(() => this.process.kill('SIGKILL'), 5000);
        await ended;
        clearTimeout(timer);
        fs.rmSync(this.folder, {recursive: true, force: true, maxRetries: 5});
    }
}

const wait = milliseconds => new Promise(resolve => setTimeout(resolve, milliseconds));

class Tab {
    constructor(browser, session, target) {
        Object.assign(this, {browser, session, target, errors: [], requests: []});
    }

    send(method, params) {
        return this.browser.send(method, params, this.session);
    }

    async begin(width, height, dark) {
        this.browser.listeners.set(this.session, (method, params) => {
            if (method === 'Runtime.exceptionThrown') {
                this.errors.push(params.exceptionDetails.exception?.description ?? params.exceptionDetails.text);
            } else if (
                method === 'Runtime.consoleAPICalled' &&
                ['error', 'warning', 'assert'].includes(params.type)
            ) {
                this.errors.push(params.args.map(each => each.value ?? each.description).join(' '));
            } else if (method === 'Log.entryAdded' && ['error', 'warning'].includes(params.entry.level)) {
                this.errors.push(params.entry.text);
            } else if (method === 'Network.requestWillBeSent') this.requests.push(params.request.url);
            else if (method === 'Page.loadEventFired') this.loaded?.();
        });
        for (const domain of ['Page', 'Runtime', 'Log', 'Network']) await this.send(`${domain}.enable`);
        await this.send('Page.addScriptToEvaluateOnNewDocument', {source: `performance.mark('begin')`});
        await this.send('Network.emulateNetworkConditions', {
            offline: true,
            latency: 0,
            downloadThroughput: 0,
            uploadThroughput: 0,
        }).catch(() => {});
        await this.send('Emulation.setDeviceMetricsOverride', {width, height, deviceScaleFactor: 1, mobile: false});
        await this.send('Emulation.setEmulatedMedia', {
            features: [{name: 'prefers-color-scheme', value: dark ? 'dark' : 'light'}],
        });
    }

    async load(url) {
        const loaded = new Promise(resolve => {
            this.loaded = resolve;
        });
        await this.send('Page.navigate', {url});
        await loaded;
    }

    // The value of an expression; promises are awaited.
    async value(expression) {
        const {result, exceptionDetails} = await this.send('Runtime.evaluate', {
            expression,
            awaitPromise: true,
            returnByValue: true,
            userGesture: true,
        });
        if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
        return result.value;
    }

    // Waits until the expression is true. The machine may be slow or busy.
    async until(expression, seconds = 120) {
        for (const end = Date.now() + seconds * 1000; ; await wait(30)) {
            if (await this.value(expression)) return;
            if (Date.now() > end) throw new Error(`not within ${seconds} s: ${expression}`);
        }
    }

    async mouse(type, x, y, buttons = 0) {
        await this.send('Input.dispatchMouseEvent', {
            type,
            x,
            y,
            button: buttons ? 'left' : 'none',
            buttons,
            clickCount: 1,
        });
    }

    async key(key, code) {
        for (const type of ['keyDown', 'keyUp']) {
            await this.send('Input.dispatchKeyEvent', {
                type,
                key,
                code: key,
                windowsVirtualKeyCode: code,
                ...(type === 'keyDown' && key === 'Enter' ? {text: '\r'} : {}),
            });
        }
    }

    // Takes a screenshot of the window, or of one element.
    async screenshot(file, selector) {
        const box =
            selector &&
            (await this.value(`(({x, y, width, height}) => ({x: x + scrollX, y: y + scrollY, width,
            height}))(document.querySelector('${selector}').getBoundingClientRect())`));
        const clip = box ? {...box, scale: 1} : undefined;
        const {data} = await this.send('Page.captureScreenshot', {format: 'png', clip});
        fs.writeFileSync(file, Buffer.from(data, 'base64'));
    }

    async pdf() {
        const {data} = await this.send('Page.printToPDF', {printBackground: true, preferCSSPageSize: true});
        return Buffer.from(data, 'base64');
    }

    async close() {
        await this.browser.send('Target.closeTarget', {targetId: this.target});
        this.browser.listeners.delete(this.session);
    }
}

module.exports = {Chromium, findChromium, wait};
