import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto'

/**
 * scrypt cost: N = 2^15, r = 8, p = 3, the OWASP Password Storage Cheat Sheet's parameters for 32
 * MiB. The set with less memory keeps concurrent logins within a bounded heap.
 */
const COST_LOG2 = 15
const BLOCK_SIZE = 8
const PARALLELISM = 3
const KEY_BYTES = 32
const SALT_BYTES = 16
/** 128 · N · r bytes, plus room for the p blocks. */
const MEMORY_BYTES_MAX = 64 * 1024 * 1024

/** Each hash occupies a libuv thread for some hundred milliseconds. */
const CONCURRENT_MAX = 2
/** How many of them unknown callers may occupy, so that one is soon free for the others. */
const STRANGERS_CONCURRENT_MAX = 1
/** The bound of each queue; past it a login is refused, not delayed. */
const WAITING_MAX = 32

/** `known` is an operator's command, or a browser that has signed in to the account before. */
export type PasswordCaller = 'known' | 'stranger'

/** Spec silent: 12 to 128 characters, no composition rules (NIST SP 800-63B, section 3.1.1.2). */
export const PASSWORD_LENGTH_MIN = 12
export const PASSWORD_LENGTH_MAX = 128

const PHC = /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d{1,2})\$([\w+/]{1,64})\$([\w+/]{1,128})$/

/** Too many hashes are queued; the caller answers 503. */
export class PasswordQueueFullError extends Error {
  constructor() {
    super('too many logins at once')
    this.name = 'PasswordQueueFullError'
  }
}

interface ScryptCost {
  readonly log2N: number
  readonly r: number
  readonly p: number
}

const CURRENT: ScryptCost = { log2N: COST_LOG2, r: BLOCK_SIZE, p: PARALLELISM }

/** @returns a PHC string: `$scrypt$ln=15,r=8,p=3$salt$hash`, base64 without padding */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES)
  const hash = await derive(password, salt, KEY_BYTES, CURRENT, 'known')
  return `$scrypt$ln=${COST_LOG2},r=${BLOCK_SIZE},p=${PARALLELISM}$${unpadded(salt)}$${unpadded(hash)}`
}

/**
 * Compares in constant time.
 * @throws PasswordQueueFullError
 * @throws Error when the stored string is not a PHC scrypt hash within the memory bound
 */
export async function verifyPassword(
  password: string,
  stored: string,
  caller: PasswordCaller,
): Promise<boolean> {
  const [, log2N, r, p, salt, hash] = PHC.exec(stored) ?? []
  if (salt === undefined || hash === undefined) throw new Error('stored password hash is malformed')
  const expected = Buffer.from(hash, 'base64')
  const cost = { log2N: Number(log2N), r: Number(r), p: Number(p) }
  const actual = await derive(password, Buffer.from(salt, 'base64'), expected.length, cost, caller)
  return timingSafeEqual(actual, expected)
}

const running: Record<PasswordCaller, number> = { known: 0, stranger: 0 }
const waiting: Record<PasswordCaller, (() => void)[]> = { known: [], stranger: [] }

function mayRun(caller: PasswordCaller): boolean {
  if (running.known + running.stranger >= CONCURRENT_MAX) return false
  return caller === 'known' || running.stranger < STRANGERS_CONCURRENT_MAX
}

/** Starts waiting hashes that may run, known callers first. */
function startWaiting(): void {
  for (const caller of ['known', 'stranger'] as const) {
    while (mayRun(caller)) {
      const start = waiting[caller].shift()
      if (start === undefined) break
      running[caller]++
      start()
    }
  }
}

async function derive(
  password: string,
  salt: Buffer,
  keyBytes: number,
  cost: ScryptCost,
  caller: PasswordCaller,
): Promise<Buffer> {
  if (waiting[caller].length >= WAITING_MAX) throw new PasswordQueueFullError()
  await new Promise<void>((resolve) => {
    waiting[caller].push(resolve)
    startWaiting()
  })
  try {
    return await new Promise<Buffer>((resolve, reject) => {
      const options = { N: 2 ** cost.log2N, r: cost.r, p: cost.p, maxmem: MEMORY_BYTES_MAX }
      // NFC, so that one password typed on two keyboards gives the same bytes.
      scrypt(password.normalize('NFC'), salt, keyBytes, options, (error, key) =>
        error === null ? resolve(key) : reject(error),
      )
    })
  } finally {
    running[caller]--
    startWaiting()
  }
}

function unpadded(bytes: Buffer): string {
  return bytes.toString('base64').replace(/=+$/, '')
}
