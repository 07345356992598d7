import { randomBytes } from 'node:crypto'
import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Child, startChild } from '../../bench/child-process.js'
import { issuerOf, type SinkStack } from '../../bench/sink-stack.js'
import { mintConsoleToken } from '../../scripts/dev/mint-console-token.js'
import { ONE_CELL } from '../../src/domain/cells.js'
import { createLanes } from '../../src/identity-provider/vault/lanes.js'
import { openLedgerStore } from '../../src/identity-provider/vault/ledger-store.js'
import { createServiceBoots } from '../../src/identity-provider/vault/service-boots.js'
import { type HttpClient, httpClient, type Reply } from '../support/http-client.js'
import { freePort } from '../support/ports.js'
import { leaveJournal, startAskedSinkStack } from '../support/second-node.js'

/** Of the stack that `startSinkStack` makes. */
const BENCH_USER = { email: 'bench@example.test', password: 'correct horse battery staple' }
const KEYS = '/api/v1/agent/keys'
const POLL_MS = 100
const POLLS_MAX = 600

describe('two services on copies of one home', () => {
  let stack: SinkStack
  let copy: string
  let second: Child | undefined
  let newerUrl = ''
  let restarted: Child | undefined
  beforeAll(async () => {
    copy = mkdtempSync(join(tmpdir(), 'cs-copy-'))
    stack = await startAskedSinkStack({ wallets: 1 })
    await stack.restartService(async () => {
      for (const part of ['service', 'registry.json', 'chains.json']) {
        cpSync(join(stack.home, part), join(copy, part), { recursive: true })
      }
      symlinkSync(join(stack.home, 'run'), join(copy, 'run'))
    })
    await leaveJournal(copy)
  })
  afterAll(async () => {
    await second?.kill()
    await restarted?.kill()
    await stack?.stop()
    rmSync(copy, { recursive: true, force: true })
  })

  const client = (baseUrl: string) => httpClient(baseUrl, { 'x-api-key': stack.secrets[0] ?? '' })
  const send = (api: HttpClient) =>
    api.post('/api/tx/send', {
      chain_id: stack.chainId,
      to: `0x${randomBytes(20).toString('hex')}`,
      value: '1',
    })

  async function until(api: HttpClient, status: number): Promise<Reply> {
    let last = ''
    for (let poll = 0; poll < POLLS_MAX; poll++) {
      const reply = await send(api)
      if (reply.status === status) return reply
      last = reply.text
      await delay(POLL_MS)
    }
    throw new Error(`no send was answered with ${status}: ${last}`)
  }

  test('only the newer signs; the older says why, and goes on answering reads', async () => {
    const older = client(stack.baseUrl)
    await until(older, 200)
    const port = String(await freePort())
    const env = { COUNTERSIGN_HOME: copy, PORT: port, IDENTITY_ISSUER: issuerOf(stack.home) }
    second = await startChild('dist/src/main.js', env)
    newerUrl = `http://127.0.0.1:${port}`
    const newer = client(newerUrl)
    await until(newer, 200)
    for (let again = 0; again < 3; again++) {
      const refused = await send(older)
      expect(refused.status).toBe(503)
      expect(refused.text).toContain('Another start of this service has taken over')
    }
    expect((await older.get('/api/limits')).status).toBe(200)
    await expect
      .poll(async () => (await older.get('/readyz')).text, { timeout: 60_000 })
      .toContain('"fenced":true')
    await until(newer, 200)
  })

  test('a restart of the identity provider gives the older nothing back', async () => {
    const issuer = issuerOf(stack.home)
    const token = await mintConsoleToken({ issuer, ...BENCH_USER })
    const owner = httpClient(stack.baseUrl, { authorization: `Bearer ${token}` })
    const { keys = [] } = (await owner.get(KEYS)).json
    process.kill(stack.pids.identity, 'SIGKILL')
    const env = { COUNTERSIGN_HOME: stack.home, IDENTITY_PORT: new URL(issuer).port }
    restarted = await startChild('dist/src/identity-provider/main.js', env)
    await until(client(newerUrl), 200)
    const before = await owner.get(KEYS)
    for (const body of [{ daily_limit_usd: '5000000' }, { daily_limit_usd: '1' }]) {
      const path = `${KEYS}/${keys[0]?.key_id}`
      const patched = await owner.call('PATCH', path, { body })
      expect(patched).toMatchObject({ status: 503, code: 'COSIGNER_UNAVAILABLE' })
      expect(patched.json.error?.details).toEqual({ reason: 'fenced' })
    }
    const revoked = await owner.post(`${KEYS}/${keys[0]?.key_id}/revoke`)
    expect(revoked).toMatchObject({ status: 503, code: 'COSIGNER_UNAVAILABLE' })
    expect((await owner.get(KEYS)).json.keys).toEqual(before.json.keys)
    const created = await owner.post(KEYS, {
      name: 'of the older one',
      sub_wallet_id: keys[0]?.sub_wallet_id,
      permission: 'trade',
      allowed_chains: [stack.chainId],
      daily_limit_usd: '10',
      monthly_limit_usd: '10',
    })
    expect(created).toMatchObject({ status: 503, code: 'COSIGNER_UNAVAILABLE' })
    expect(created.text).toContain('Another start of this service has taken over')
    expect(await until(client(stack.baseUrl), 503)).toMatchObject({ code: 'COSIGNER_UNAVAILABLE' })
  })
})

describe('the user side', () => {
  let home: string
  beforeAll(() => {
    home = mkdtempSync(join(tmpdir(), 'cs-boots-'))
  })
  afterAll(() => rmSync(home, { recursive: true, force: true }))

  const connection = () => {
    let closed = false
    return {
      get closed() {
        return closed
      },
      end: () => {
        closed = true
      },
    }
  }
  const startOf = (boot: Uint8Array, epoch?: number, journal = '0a'.repeat(16)) => ({
    boot,
    leadership: epoch === undefined ? null : { journal, epoch, cell: ONE_CELL },
  })
  const open = () => {
    const ledger = openLedgerStore(join(home, 'ledger'), { length: 0 })
    const lanes = createLanes(ledger)
    return { ledger, lanes, boots: createServiceBoots(ledger, lanes, () => true) }
  }

  test('serves the start that came last, and no earlier one, across its own restarts', async () => {
    const [first, last] = [randomBytes(16), randomBytes(16)]
    const before = open()
    const [old, young] = [connection(), connection()]
    await before.boots.admit(startOf(first), old)
    const lane = await before.lanes.next(0)
    expect(() => before.boots.requireServed(connection())).toThrow('NO_SESSION')
    // A thread of the first asks for a lane while the other start takes over.
    const late = before.lanes.next(0)
    const takingOver = before.boots.admit(startOf(last), young)
    await expect(late).rejects.toThrow('FENCED')
    await takingOver
    expect(old.closed).toBe(true)
    expect(() => before.boots.requireServed(old)).toThrow('FENCED')
    const batch = (lane + 1) * 2 ** 24 - 1
    expect(() => before.ledger.decide((writer) => before.lanes.take(batch, 0, writer))).toThrow(
      'FENCED',
    )
    await expect(before.boots.admit(startOf(first), connection())).rejects.toThrow('FENCED')
    await before.ledger.close()

    const after = open()
    await expect(after.boots.admit(startOf(first), connection())).rejects.toThrow('FENCED')
    await after.boots.admit(startOf(last), connection())
    await after.ledger.close()
  })

  test('serves no earlier owner of a journal, however late that announces itself', async () => {
    const before = open()
    const [newer, other] = [connection(), connection()]
    const zombie = randomBytes(16)
    await before.boots.admit(startOf(randomBytes(16), 7), connection())
    await before.boots.admit(startOf(randomBytes(16), 8), newer)
    const late = before.boots.admit(startOf(zombie, 7), other)
    await expect(late).rejects.toThrow('FENCED')
    // It is not served, and the one that is was not disturbed.
    expect(() => before.boots.requireServed(other)).toThrow('NO_SESSION')
    expect(() => before.boots.requireServed(newer)).not.toThrow()
    await before.ledger.close()

    const after = open()
    await expect(after.boots.admit(startOf(zombie, 7), connection())).rejects.toThrow('FENCED')
    // Its own supervisor starts the newer one again, which takes the journal again.
    await after.boots.admit(startOf(randomBytes(16), 9), connection())
    // Another journal counts from one, and a service may go on without any.
    await after.boots.admit(startOf(randomBytes(16), 1, '0b'.repeat(16)), connection())
    await after.boots.admit(startOf(randomBytes(16)), connection())
    await expect(after.boots.admit(startOf(zombie, 8), connection())).rejects.toThrow('FENCED')
    await after.ledger.close()
  })

  test('knows of a start that it was told of as an earlier owner that it is a later one by now', async () => {
    const journal = '0c'.repeat(16)
    const before = open()
    const [boot, served] = [randomBytes(16), connection()]
    await before.boots.admit(startOf(boot, 1, journal), connection())
    await before.boots.admit(startOf(boot, 3, journal), served)
    // It had the journal in between, and was frozen since.
    const late = before.boots.admit(startOf(randomBytes(16), 2, journal), connection())
    await expect(late).rejects.toThrow('FENCED')
    expect(() => before.boots.requireServed(served)).not.toThrow()
    await before.ledger.close()
    const after = open()
    const again = after.boots.admit(startOf(randomBytes(16), 2, journal), connection())
    await expect(again).rejects.toThrow('FENCED')
    await after.ledger.close()
  })

  test('a start that is gone when its word arrives takes over from nobody', async () => {
    const { ledger, boots } = open()
    const [living, gone] = [connection(), connection()]
    await boots.admit(startOf(randomBytes(16)), living)
    gone.end()
    await expect(boots.admit(startOf(randomBytes(16)), gone)).rejects.toThrow('NO_SESSION')
    expect(() => boots.requireServed(living)).not.toThrow()
    await ledger.close()
  })
})
