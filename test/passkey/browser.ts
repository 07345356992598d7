import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'

/**
 * A headless Chromium, spoken to by the DevTools protocol over its pipe: no port, no library.
 * https://chromedevtools.github.io/devtools-protocol/
 */
export interface Browser extends Tab {
  /** In the same profile: it shares cookies, and what tabs tell each other. */
  openTab(): Promise<Tab>
  close(): Promise<void>
}

export interface Tab {
  /** Brings the tab to the front. */
  open(url: string): Promise<void>
  /** As on a machine that was never here: pages and scripts come from the server once more. */
  forgetCache(): Promise<void>
  /** Runs a script in every page from now on, before any of its own. */
  runFirst(script: string): Promise<void>
  /** Value of an expression in the page; of a promise, what it resolves to. */
  evaluate(expression: string): Promise<unknown>
  /** Until an expression is truthy, also across navigations. @throws Error with the page's text */
  until(expression: string): Promise<void>
  click(selector: string): Promise<void>
  /** A key by its name (`Tab`, `Enter`, `Escape`), as the keyboard sends it. */
  press(key: keyof typeof KEYS): Promise<void>
  /** Into what has the focus. */
  type(text: string): Promise<void>
  /** Of the window, CSS pixels. */
  resize(width: number, height: number): Promise<void>
  /** What the person prefers (`prefers-color-scheme`). */
  setColorScheme(scheme: 'light' | 'dark'): Promise<void>
  /** Of what the window shows, PNG; brings the tab to the front. */
  screenshot(): Promise<Buffer>
  /** @returns id of a virtual authenticator that is asked from now on */
  addAuthenticator(holding?: readonly object[]): Promise<string>
  /** Unplugs one. @returns the passkeys on it, for the next time */
  removeAuthenticator(authenticatorId: string): Promise<readonly object[]>
  setUserVerified(authenticatorId: string, verified: 'yes' | 'no'): Promise<void>
  /** What the page complained of: exceptions, and what its policy has blocked. */
  readonly complaints: readonly string[]
}

interface Message {
  readonly id?: number
  readonly method?: string
  readonly params?: Readonly<Record<string, unknown>>
  readonly result?: Readonly<Record<string, unknown>>
  readonly error?: { readonly message: string }
}

const PROGRAM = process.env.CHROMIUM ?? 'chromium'
const TIMEOUT_MS = 60_000
/** Of one message: the rules of axe go over all of a long page in one. */
const REPLY_TIMEOUT_MS = 120_000
const POLL_MS = 50

/** What a key is to Windows, which the protocol wants, and the text that it makes. */
const KEYS = {
  Tab: { code: 9, text: '' },
  Enter: { code: 13, text: '\r' },
  Backspace: { code: 8, text: '' },
  Escape: { code: 27, text: '' },
} as const
const STOP_TIMEOUT_MS = 5_000

/** @throws Error when there is no Chromium: install it, or say where it is in CHROMIUM */
export async function startBrowser(): Promise<Browser> {
  const profile = mkdtempSync(join(tmpdir(), 'cs-chromium-'))
  // Chromium's sandbox refuses to run as root.
  const sandbox = process.getuid?.() === 0 ? ['--no-sandbox'] : []
  const child = spawn(
    PROGRAM,
    [
      ...['--headless=new', '--remote-debugging-pipe', '--no-first-run', '--disable-gpu'],
      // Tabs that are behind another one go on as fast as it.
      ...['--disable-backgrounding-occluded-windows', '--disable-renderer-backgrounding'],
      ...['--disable-background-timer-throttling'],
      ...['--disable-dev-shm-usage', `--user-data-dir=${profile}`, ...sandbox, 'about:blank'],
    ],
    { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] },
  )
  const started = new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve)
    child.once('error', (cause) => {
      const words = `${PROGRAM} does not start: install Chromium, or say in CHROMIUM where it is`
      reject(new Error(words, { cause }))
    })
  })
  const close = () => end(child, profile)
  try {
    await started
    return await attached(child, close)
  } catch (error) {
    await close()
    throw error
  }
}

async function attached(child: ChildProcess, close: () => Promise<void>): Promise<Browser> {
  const complaints: string[] = []
  const send = pipeOf(child, complaints)
  const openTab = () => openTabOf(send, complaints)
  return { ...(await openTab()), openTab, close }
}

async function openTabOf(send: Send, complaints: readonly string[]): Promise<Tab> {
  const { targetId } = await send('Target.createTarget', { url: 'about:blank' })
  const attached = await send('Target.attachToTarget', { targetId, flatten: true })
  const sessionId = String(attached.sessionId)
  const call = (method: string, params: object) => send(method, params, sessionId)
  for (const domain of ['Page', 'Runtime', 'Log', 'WebAuthn']) await call(`${domain}.enable`, {})
  // Keys go to a tab that is behind another one, too.
  await call('Emulation.setFocusEmulationEnabled', { enabled: true })

  async function evaluate(expression: string): Promise<unknown> {
    const as = { returnByValue: true, awaitPromise: true }
    const { result } = await call('Runtime.evaluate', { expression, ...as })
    return (result as { value?: unknown }).value
  }

  async function until(expression: string): Promise<void> {
    const deadlineMs = Date.now() + TIMEOUT_MS
    while (!(await evaluate(expression).catch(() => false))) {
      if (Date.now() > deadlineMs) {
        const text = await evaluate('location.href + "\\n" + document.body.innerText')
        throw new Error(`not so: ${expression}\n${String(text)}\n${complaints.join('\n')}`)
      }
      await delay(POLL_MS)
    }
  }

  return {
    complaints,
    evaluate,
    until,
    async open(url) {
      await call('Page.bringToFront', {})
      await call('Page.navigate', { url })
    },
    async forgetCache() {
      await call('Network.clearBrowserCache', {})
    },
    async runFirst(source) {
      await call('Page.addScriptToEvaluateOnNewDocument', { source })
    },
    async click(selector) {
      const found = `document.querySelector(${JSON.stringify(selector)})`
      // What a script does with a click, it does once the page is complete.
      await until(`document.readyState === 'complete' && ${found} !== null`)
      await evaluate(`${found}.click()`)
    },
    async press(key) {
      const { code, text } = KEYS[key]
      const pressed = { key, code: key, windowsVirtualKeyCode: code, text }
      await call('Input.dispatchKeyEvent', {
        type: text === '' ? 'rawKeyDown' : 'keyDown',
        ...pressed,
      })
      await call('Input.dispatchKeyEvent', { type: 'keyUp', ...pressed })
    },
    async type(text) {
      await call('Input.insertText', { text })
    },
    async resize(width, height) {
      const size = { width, height, deviceScaleFactor: 1, mobile: width < 600 }
      await call('Emulation.setDeviceMetricsOverride', size)
    },
    async setColorScheme(scheme) {
      const features = [{ name: 'prefers-color-scheme', value: scheme }]
      await call('Emulation.setEmulatedMedia', { features })
    },
    async screenshot() {
      // A tab that is behind another one draws nothing: the answer would wait for a frame of it.
      await call('Page.bringToFront', {})
      const { data } = await call('Page.captureScreenshot', { captureBeyondViewport: false })
      return Buffer.from(String(data), 'base64')
    },
    async addAuthenticator(holding = []) {
      const options = {
        ...{ protocol: 'ctap2', transport: 'internal', hasResidentKey: true },
        ...{ hasUserVerification: true, isUserVerified: true, automaticPresenceSimulation: true },
      }
      const { authenticatorId } = await call('WebAuthn.addVirtualAuthenticator', { options })
      for (const credential of holding) {
        await call('WebAuthn.addCredential', { authenticatorId, credential })
      }
      return String(authenticatorId)
    },
    async removeAuthenticator(authenticatorId) {
      const { credentials } = await call('WebAuthn.getCredentials', { authenticatorId })
      await call('WebAuthn.removeVirtualAuthenticator', { authenticatorId })
      return credentials as readonly object[]
    },
    async setUserVerified(authenticatorId, verified) {
      const isUserVerified = verified === 'yes'
      await call('WebAuthn.setUserVerified', { authenticatorId, isUserVerified })
    },
  }
}

type Send = (
  method: string,
  params: object,
  sessionId?: string,
) => Promise<Readonly<Record<string, unknown>>>

/** Messages are JSON, each ended by a zero byte. */
function pipeOf(child: ChildProcess, complaints: string[]): Send {
  const [input, output] = [child.stdio[3] as Writable, child.stdio[4] as Readable]
  const waiting = new Map<number, (message: Message) => void>()
  let last = 0
  let received = ''
  output.setEncoding('utf8')
  output.on('data', (chunk: string) => {
    const parts = (received + chunk).split('\0')
    received = parts.pop() ?? ''
    for (const part of parts) take(JSON.parse(part) as Message)
  })

  function take(message: Message): void {
    const { id, method, params = {} } = message
    if (id !== undefined) {
      waiting.get(id)?.(message)
      waiting.delete(id)
    } else if (method === 'Runtime.exceptionThrown') complaints.push(JSON.stringify(params))
    else if (method === 'Log.entryAdded') {
      const { entry } = params as { entry: { level: string; text: string } }
      if (entry.level === 'error') complaints.push(entry.text)
    }
  }

  return (method, params, sessionId) => {
    const id = ++last
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`${method}: no answer`)), REPLY_TIMEOUT_MS)
      waiting.set(id, ({ result, error }) => {
        clearTimeout(timer)
        if (error === undefined) resolve(result ?? {})
        else reject(new Error(`${method}: ${error.message}`))
      })
      input.write(
        `${JSON.stringify({ id, method, params, ...(sessionId === undefined ? {} : { sessionId }) })}\0`,
      )
    })
  }
}

async function end(child: ChildProcess, profile: string): Promise<void> {
  if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) {
    const gone = new Promise((resolve) => child.once('close', resolve))
    child.kill('SIGTERM')
    const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS)
    await gone
    clearTimeout(timer)
  }
  await removeProfile(profile)
}

/** The browser's own children outlive it for a moment, and write to the profile until they end. */
async function removeProfile(profile: string): Promise<void> {
  const deadlineMs = Date.now() + TIMEOUT_MS
  for (;;) {
    try {
      rmSync(profile, { recursive: true, force: true })
      return
    } catch (error) {
      if (Date.now() > deadlineMs) throw error
      await delay(POLL_MS)
    }
  }
}
