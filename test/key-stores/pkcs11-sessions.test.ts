import { writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type * as Pkcs11 from 'pkcs11js'
import { beforeEach, expect, test } from 'vitest'
import {
  openPkcs11Sessions,
  type Pkcs11Session,
  type Pkcs11Sessions,
} from '../../src/custody/key-stores/pkcs11-sessions.js'

/** A token that goes away and comes back, as one across a network does. */

const SESSION_HANDLE_INVALID = 0xb3
const USER_NOT_LOGGED_IN = 0x101
const TOKEN = 'countersign'

class TokenError extends Error {
  readonly method = 'C_SignInit'
  readonly code: number
  constructor(code: number) {
    super(`CKR_${code.toString(16)}`)
    this.code = code
  }
}

let isThere: boolean
let isLoggedIn: boolean
let live: Set<string>
let opened: number
let waitingToEnd: (() => void)[]

class FakeModule {
  load() {}
  C_Initialize() {}
  C_GetSlotList() {
    return isThere ? [Buffer.of(1)] : []
  }
  C_GetTokenInfo() {
    return { label: TOKEN.padEnd(32) }
  }
  C_OpenSession() {
    if (!isThere) throw new TokenError(0xe0)
    const handle = Buffer.of(++opened)
    live.add(handle.toString('hex'))
    return handle
  }
  C_CloseSession(handle: Buffer) {
    if (!live.delete(handle.toString('hex'))) throw new TokenError(SESSION_HANDLE_INVALID)
  }
  C_Login() {
    if (isLoggedIn) throw new TokenError(0x100)
    isLoggedIn = true
  }
  C_SignInit(handle: Buffer) {
    if (!live.has(handle.toString('hex'))) throw new TokenError(SESSION_HANDLE_INVALID)
    if (!isLoggedIn) throw new TokenError(USER_NOT_LOGGED_IN)
  }
}

function loseToken(): void {
  isThere = false
  isLoggedIn = false
  live.clear()
}

function open(): Pkcs11Sessions {
  const binding = { PKCS11: FakeModule, Pkcs11Error: TokenError } as unknown as typeof Pkcs11
  const module = join(tmpdir(), 'countersign-no-module')
  writeFileSync(module, '')
  return openPkcs11Sessions(binding, {
    modulePath: module,
    token: TOKEN,
    readPin: () => Buffer.from('1234'),
  })
}

async function signed({ module, handle }: Pkcs11Session): Promise<string> {
  module.C_SignInit(handle, { mechanism: 1 }, Buffer.of(1))
  return 'signed'
}

async function signedLate(session: Pkcs11Session): Promise<string> {
  await new Promise<void>((resolve) => waitingToEnd.push(resolve))
  return signed(session)
}

beforeEach(() => {
  isThere = true
  isLoggedIn = false
  live = new Set()
  opened = 0
  waitingToEnd = []
})

test('a token that comes back signs again, by itself', async () => {
  const sessions = open()
  expect(await sessions.use(signed)).toBe('signed')
  loseToken()
  for (let n = 0; n < 8; n++) await expect(sessions.use(signed)).rejects.toThrow(/countersign|slot/)
  isThere = true
  expect(await sessions.use(signed)).toBe('signed')
  expect(live.size).toBe(1)
})

test('whoever waits for a session while the token goes away is told, and the next one signs', async () => {
  const sessions = open()
  const atWork = Array.from({ length: 4 }, () => sessions.use(signedLate))
  const waiting = Array.from({ length: 6 }, () => sessions.use(signed))
  const outcomes = Promise.allSettled([...atWork, ...waiting])
  await expect.poll(() => waitingToEnd.length).toBe(4)
  loseToken()
  for (const end of waitingToEnd) end()
  expect((await outcomes).map(({ status }) => status)).toEqual(Array(10).fill('rejected'))
  isThere = true
  expect(await Promise.all(Array.from({ length: 6 }, () => sessions.use(signed)))).toEqual(
    Array(6).fill('signed'),
  )
  expect(live.size).toBeLessThanOrEqual(4)
})

test('a login that ended is made again', async () => {
  const sessions = open()
  expect(await sessions.use(signed)).toBe('signed')
  isLoggedIn = false
  await expect(sessions.use(signed)).rejects.toThrow(`token ${TOKEN}: C_SignInit failed`)
  expect(await sessions.use(signed)).toBe('signed')
})
