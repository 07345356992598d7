import { existsSync } from 'node:fs'
import type * as Pkcs11 from 'pkcs11js'

/**
 * Logged-in sessions with one token. A session carries one operation at a time, so concurrent calls
 * take one each. The module is loaded once per process and thread.
 */
export interface Pkcs11Sessions {
  /** Runs `work` with its own session; waits when all are taken. */
  use<T>(work: (session: Pkcs11Session) => Promise<T>): Promise<T>
  close(): void
}

export interface Pkcs11Session {
  readonly module: Pkcs11.PKCS11
  readonly handle: Buffer
}

interface TokenAccess {
  readonly modulePath: string
  readonly token: string
  readonly readPin: () => Buffer
}

/** Enough for a domain's concurrent signatures: two batches and their self-tests, with room. */
const SESSIONS_MAX = 4
/** The bound of callers that wait for a session; the pipeline above never has as many. */
const WAITING_MAX = 1_024
/** PKCS#11 v2.40 return values after which another thread has already done the work. */
const ALREADY_INITIALIZED = 0x191
const ALREADY_LOGGED_IN = 0x100

/** CKR_PIN_INCORRECT, _INVALID, _LEN_RANGE, _EXPIRED, _LOCKED. */
const PIN_FAULTS: ReadonlySet<number> = new Set([0xa0, 0xa1, 0xa2, 0xa3, 0xa4])
/** Tokens count wrong PINs and lock themselves, so a refused login is not repeated at once. */
const LOGIN_PAUSE_MS = 60_000
const LATELY = 'it recently refused the login; check the PIN file'

interface Waiting {
  readonly resolve: (handle: Buffer) => void
  readonly reject: (error: unknown) => void
}

/** @throws Error that names the module or the token; never the PIN */
export function openPkcs11Sessions(p11: typeof Pkcs11, access: TokenAccess): Pkcs11Sessions {
  const module = loadModule(p11, access.modulePath)
  const handles = new Set<Buffer>()
  const free: Buffer[] = []
  const waiting: Waiting[] = []
  let noLoginBeforeMs = Number.NEGATIVE_INFINITY

  /** Logs in: a token's login ends with its last session, or when the token was disconnected. */
  function openSession(): Buffer {
    if (performance.now() < noLoginBeforeMs) throw new Error(`token ${access.token}: ${LATELY}`)
    const slot = slotOf(module, access)
    const handle = module.C_OpenSession(slot, p11.CKF_SERIAL_SESSION | p11.CKF_RW_SESSION)
    handles.add(handle)
    try {
      logIn(p11, module, handle, access)
    } catch (error) {
      if (error instanceof p11.Pkcs11Error && PIN_FAULTS.has(error.code)) {
        noLoginBeforeMs = performance.now() + LOGIN_PAUSE_MS
      }
      closeSession(handle)
      throw error
    }
    return handle
  }

  async function take(): Promise<Buffer> {
    const idle = free.pop()
    if (idle !== undefined) return idle
    if (handles.size < SESSIONS_MAX) return openSession()
    if (waiting.length >= WAITING_MAX) throw new Error(`token ${access.token}: too many callers`)
    return new Promise((resolve, reject) => waiting.push({ resolve, reject }))
  }

  function giveBack(handle: Buffer): void {
    const next = waiting.shift()
    if (next === undefined) free.push(handle)
    else next.resolve(handle)
  }

  /**
   * Closes a failed session, which may be invalid or have an operation under way. The next caller
   * gets a new one, so that a token that was away for a while signs again.
   */
  function giveUp(handle: Buffer): void {
    closeSession(handle)
    const next = waiting.shift()
    if (next === undefined) return
    try {
      next.resolve(openSession())
    } catch (error) {
      next.reject(error)
      // No running work will free a session for them.
      if (handles.size === 0) for (const one of waiting.splice(0)) one.reject(error)
    }
  }

  function closeSession(handle: Buffer): void {
    handles.delete(handle)
    try {
      module.C_CloseSession(handle)
    } catch {
      // The token may have ended it, or be disconnected.
    }
  }

  function worded(error: unknown): unknown {
    if (!(error instanceof p11.Pkcs11Error)) return error
    return new Error(`token ${access.token}: ${error.method || 'call'} failed: ${error.message}`)
  }

  free.push(openSession())
  return {
    async use(work) {
      let handle: Buffer | null = null
      let isSound = false
      try {
        handle = await take()
        const done = await work({ module, handle })
        isSound = true
        return done
      } catch (error) {
        throw worded(error)
      } finally {
        if (handle !== null && isSound) giveBack(handle)
        else if (handle !== null) giveUp(handle)
      }
    },
    close() {
      // Neither C_Finalize nor C_Logout: both affect the whole process, and its other threads
      // may // be using the token.
      for (const handle of [...handles]) closeSession(handle)
      module.close()
    },
  }
}

function loadModule(p11: typeof Pkcs11, modulePath: string): Pkcs11.PKCS11 {
  if (!existsSync(modulePath)) throw new Error(`the PKCS#11 module ${modulePath} does not exist`)
  const module = new p11.PKCS11()
  try {
    module.load(modulePath)
    module.C_Initialize({ flags: p11.CKF_OS_LOCKING_OK })
  } catch (error) {
    if (codeOf(error) !== ALREADY_INITIALIZED) {
      throw new Error(`the PKCS#11 module ${modulePath} does not start: ${messageOf(error)}`)
    }
  }
  return module
}

function slotOf(module: Pkcs11.PKCS11, { token, modulePath }: TokenAccess): Buffer {
  const slot = module
    .C_GetSlotList(true)
    .find((candidate) => module.C_GetTokenInfo(candidate).label.trimEnd() === token)
  if (slot === undefined) throw new Error(`${modulePath} has no token with the label ${token}`)
  return slot
}

function logIn(
  p11: typeof Pkcs11,
  module: Pkcs11.PKCS11,
  session: Buffer,
  access: TokenAccess,
): void {
  const pin = access.readPin()
  try {
    module.C_Login(session, p11.CKU_USER, pin.toString('utf8').trim())
  } catch (error) {
    if (codeOf(error) !== ALREADY_LOGGED_IN) {
      throw new Error(`token ${access.token}: login failed: ${messageOf(error)}`)
    }
  } finally {
    pin.fill(0)
  }
}

function codeOf(error: unknown): number | undefined {
  return error instanceof Error && 'code' in error ? Number(error.code) : undefined
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : 'unknown error'
}
