import { randomBytes } from 'node:crypto'
import {
  appendFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { Io } from '../../src/cli/io.js'
import { runProgram } from '../../src/cli/program.js'
import { readLastBackup } from '../../src/disk/last-backup.js'
import type { EventId, LineageId } from '../../src/domain/ids.js'
import { capBreach, rollForward } from '../../src/domain/spend.js'
import { openLoginStore } from '../../src/identity-provider/login/login-store.js'
import { type Environment, openEnvironment } from '../../src/store/environment.js'
import { attachEventSequence, createEventSequenceBuffer } from '../../src/store/event-sequence.js'
import { localCommits } from '../../src/store/local-commits.js'
import { createReader, type Reader } from '../../src/store/reader.js'
import { WriteBatch } from '../../src/store/write-batch.js'
import { entryAt, newEvent } from '../actors/retention-world.js'
import { apiKey, USER_ID, wallet } from '../actors/wallet-fixtures.js'
import { withinOneUtcDay } from '../support/utc-day.js'
import { newGrant } from './grants.js'
import {
  type Quorum,
  READY_MS,
  type ReadyWallet,
  readyWallet,
  requestOf,
  signed,
  startQuorum,
  transfer,
} from './harness.js'

/** The two other domains are real processes at work; the service's store is written here. */

const MINUTES_MAX = 3

let quorum: Quorum
let environment: Environment
let active: ReadyWallet
let idle: ReadyWallet
let revoked: ReadyWallet

const CAPS = { dailyLimitMicros: 100_000_000n, monthlyLimitMicros: 1_000_000_000n }

beforeAll(async () => {
  // Caps are of a day.
  await withinOneUtcDay(MINUTES_MAX)
  quorum = await startQuorum()
  const [first, second, third] = await Promise.all([
    readyWallet(quorum),
    readyWallet(quorum),
    readyWallet(quorum),
  ])
  ;[active, idle, revoked] = [first, second, third]
  await writeStore([active, idle, revoked])
  await signed(quorum, requestOf(active, transfer(0)))
})
afterAll(async () => {
  await environment?.root.close()
  await quorum?.close()
})

interface Ran {
  readonly code: number
  readonly out: string
  readonly err: string
}

async function backup(...args: readonly string[]): Promise<Ran> {
  let out = ''
  let err = ''
  const io: Io = {
    env: { COUNTERSIGN_HOME: quorum.home },
    out: (text) => {
      out += text
    },
    err: (text) => {
      err += text
    },
    isInteractive: false,
  }
  process.exitCode = 0
  const code = await runProgram(io, ['backup', ...args])
  process.exitCode = 0
  return { code, out, err }
}

const at = (...path: string[]) => join(quorum.home, ...path)

function filesBelow(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
}

/** The service's own process is this one; its keys are those that the identity provider knows. */
async function writeStore(wallets: readonly ReadyWallet[]): Promise<void> {
  environment = openEnvironment(at('service', 'store'))
  const sequence = attachEventSequence(createEventSequenceBuffer(), () => true)
  const batch = new WriteBatch()
  batch.appendAudit(entryAt(Date.now()))
  batch.appendEvent(newEvent(Date.now()))
  for (const [index, { walletId, keyId }] of wallets.entries()) {
    const of = { userId: USER_ID, subWalletId: walletId }
    batch.addSubWallet({ wallet: { ...wallet, ...of }, lanes: [], spend: [], open: [] })
    const secretHash = String(index).padStart(64, '0')
    const lineageId = keyId as string as LineageId
    batch.putApiKey(apiKey({ ...of, keyId, lineageId, secretHash, ...CAPS }))
  }
  await localCommits(environment, sequence).commit(batch)
}

describe('a backup of a running instance', () => {
  test('has every store of every domain, is its user’s alone, and is sound', async () => {
    const made = await backup('create', '--to', at('b1'), '--json')
    expect(made.code, made.err).toBe(0)
    const { parts, keys_left_out } = JSON.parse(made.out)
    expect(parts).toEqual(['service', 'user', 'quorum', 'config'])
    const names = filesBelow(at('b1')).map((path) => path.slice(at('b1').length + 1))
    for (const name of [
      ...['service/store/data.mdb', 'service/custody/shares/data.mdb', 'registry.json'],
      ...['service/custody/evidence/data.mdb', 'identity-provider/vault/shares/data.mdb'],
      ...['identity-provider/vault/ledger/data.mdb', 'identity-provider/vault/evidence/data.mdb'],
      ...['identity-provider/login.mdb', 'quorum-signer/keys/root.pub.pem', 'backup.json'],
    ]) {
      expect(names).toContain(name)
    }
    // No private key, unless it was asked for.
    expect(keys_left_out).toEqual(
      expect.arrayContaining([
        ...['service/custody/keys/signing.pem', 'service/custody/keys/wrapping.key'],
        ...['identity-provider/vault/keys/wrapping.key', 'identity-provider/login-keys.json'],
        ...['quorum-signer/keys/signing.pem', 'root/root.pem'],
      ]),
    )
    for (const path of filesBelow(at('b1'))) {
      expect(statSync(path).mode & 0o777, path).toBe(0o600)
      expect(readFileSync(path).includes('PRIVATE KEY'), path).toBe(false)
    }
    const verified = await backup('verify', at('b1'), '--json')
    expect(verified.code, verified.err).toBe(0)
    const { sound, files } = JSON.parse(verified.out)
    expect(sound).toBe(true)
    const records = (path: string) =>
      files.find((file: { path: string }) => file.path === path)?.records
    expect(records('service/store/data.mdb')).toBeGreaterThan(3)
    expect(records('identity-provider/vault/evidence/data.mdb')).toBeGreaterThan(1)
    // The service is told of it.
    expect(readLastBackup(quorum.home)).toMatchObject({ result: 'whole' })
    // Verifying it leaves nothing in it.
    expect(filesBelow(at('b1'))).toHaveLength(names.length)
  })

  test('has private keys when they are asked for, and says so', async () => {
    const made = await backup(
      'create',
      '--to',
      at('b2'),
      '--with-keys',
      '--part',
      'service',
      '--json',
    )
    expect(made.code, made.err).toBe(0)
    expect(made.err).toContain('in clear')
    expect(JSON.parse(made.out)).toMatchObject({ parts: ['service'], keys_left_out: [] })
    const secrets = JSON.parse(readFileSync(at('b2', 'backup.json'), 'utf8'))
      .files.filter(({ secret }: { secret: boolean }) => secret)
      .map(({ path }: { path: string }) => path)
    expect(secrets.sort()).toEqual([
      'service/custody/keys/signing.pem',
      'service/custody/keys/wrapping.key',
    ])
    // The note of the backup before is of this machine: no backup has it.
    expect(existsSync(at('service', 'last-backup.json'))).toBe(true)
    expect(existsSync(at('b2', 'service', 'last-backup.json'))).toBe(false)
  })

  test('that is damaged, short, or has what is not its own is named with its file', async () => {
    const copy = at('b1', 'service', 'store', 'data.mdb')
    const whole = readFileSync(copy)
    appendFileSync(copy, randomBytes(1))
    writeFileSync(at('b1', 'stranger'), '')
    const longer = await backup('verify', at('b1'))
    expect(longer.code).toBe(1)
    expect(longer.err).toMatch(/service\/store\/data\.mdb has \d+ bytes, and had \d+/)
    expect(longer.err).toContain('stranger does not belong to this backup')
    rmSync(at('b1', 'stranger'))
    const flipped = Buffer.from(whole)
    flipped.writeUInt8((flipped[flipped.length - 1] ?? 0) ^ 1, flipped.length - 1)
    writeFileSync(copy, flipped)
    expect((await backup('verify', at('b1'))).err).toContain('its SHA-256')
    rmSync(copy)
    expect((await backup('verify', at('b1'))).err).toContain('service/store/data.mdb is missing')
    writeFileSync(copy, whole, { mode: 0o600 })
    expect(await backup('verify', at('b1'))).toMatchObject({ code: 0 })
  })

  test('is none where a store lies behind a link, which it would lack', async () => {
    const link = at('service', 'moved-store')
    symlinkSync(at('b1', 'service', 'store'), link)
    const made = await backup('create', '--to', at('b3'), '--part', 'service')
    rmSync(link)
    expect(made).toMatchObject({ code: 1 })
    expect(made.err).toContain(`${link} is a symbolic link`)
    expect(existsSync(at('b3'))).toBe(false)
  })

  test('goes into no directory that exists, and an interrupted one is none', async () => {
    const again = await backup('create', '--to', at('b1'))
    expect(again).toMatchObject({ code: 2 })
    expect(again.err).toContain('exists already')
    expect(existsSync(at('b1', 'backup.json'))).toBe(true)
    expect((await backup('verify', at('service'))).err).toContain('is not a complete backup')
    // Each would be in the next one.
    const inside = await backup('create', '--to', at('service', 'backups', 'b1'))
    expect(inside).toMatchObject({ code: 2 })
    expect(existsSync(at('service', 'backups'))).toBe(false)
  })
})

async function reading<T>(read: (reader: Reader) => T): Promise<T> {
  const opened = openEnvironment(at('service', 'store'))
  try {
    return read(createReader(opened))
  } finally {
    await opened.root.close()
  }
}

/** What the least send of a wallet's key would break. */
const breachOf = ({ walletId, keyId }: ReadyWallet) =>
  reading(({ wallets }) => {
    const spend = wallets
      .header(walletId)
      ?.spend.find(({ lineageId }) => lineageId === (keyId as string))
    return spend === undefined
      ? null
      : (capBreach(rollForward(spend.counters, Date.now()), CAPS, 1n)?.period ?? null)
  })

/** As the service would: each event gets its place by the store that is there. */
async function appendOne(): Promise<{ readonly seq: number; readonly eventId: EventId }> {
  const opened = openEnvironment(at('service', 'store'))
  const lastSeqs = createReader(opened).events.lastSeqs()
  const sequence = attachEventSequence(createEventSequenceBuffer(lastSeqs), () => true)
  const batch = new WriteBatch()
  batch.appendEvent(newEvent(Date.now()))
  const [event] = await localCommits(opened, sequence).commit(batch)
  await opened.root.close()
  if (event === undefined) throw new Error('no event')
  return event
}

async function endService(): Promise<void> {
  await quorum.coSigner.close()
  await environment.root.close()
}

const restoring = (...args: readonly string[]) =>
  backup('restore', '--from', at('full'), '--json', ...args)

function lose(...names: readonly string[]): void {
  for (const name of names) rmSync(at(name), { recursive: true, force: true })
}

function revoke({ walletId, keyId }: ReadyWallet) {
  return quorum.coSigner.putGrant(
    newGrant(quorum, walletId, {
      ...{ keyId, proofKey: null, consoleToken: null, allowedChains: [1, 8453] },
      ...{ ...CAPS, revoked: true, effect: 'narrows' as const },
    }),
  )
}

describe('a service that lost its machine', () => {
  let lastBefore: number

  test('comes back from a backup into an empty home alone, and with its keys', async () => {
    // What a copy of the other side's log of before lacks.
    await signed(quorum, requestOf(active, transfer(1)))
    const made = await backup('create', '--to', at('full'), '--with-keys')
    expect(made.code, made.err).toBe(0)
    // After the backup: one key signs, one is revoked, an event takes a place.
    await signed(quorum, requestOf(active, transfer(2)))
    await revoke(revoked)
    lastBefore = (await appendOne()).seq
    await endService()

    const inUse = await restoring('--part', 'service')
    expect(inUse).toMatchObject({ code: 2 })
    expect(inUse.err).toMatch(/service\/\S+ exists, but a restore needs an empty home/)
    lose('service')
    const ofTheBackup = await restoring('--user-log', at('full', 'identity-provider'))
    expect(ofTheBackup.err).toContain('belongs to the backup itself')
    const keyless = await backup('restore', '--from', at('b1'), '--part', 'service')
    expect(keyless).toMatchObject({ code: 2 })
    expect(keyless.err).toContain('put service/custody/keys/signing.pem')
    expect(existsSync(at('service', 'store'))).toBe(false)
  })

  test('does not start from a damaged backup, and does once the command is repeated', async () => {
    const copy = at('full', 'service', 'custody', 'evidence', 'data.mdb')
    const whole = readFileSync(copy)
    appendFileSync(copy, randomBytes(1))
    const damaged = await restoring('--part', 'service')
    expect(damaged).toMatchObject({ code: 1 })
    expect(damaged.err).toContain('has changed since the backup')
    await expect(quorum.connect()).rejects.toThrow('repeat countersign backup restore')
    // Nor is a copy of half of it a backup.
    expect((await backup('create', '--to', at('half'))).err).toContain('repeat countersign backup')
    expect(readdirSync(quorum.home).filter((name) => name.startsWith('half'))).toEqual([])
    expect(readLastBackup(quorum.home)).toMatchObject({ result: 'failed', bytes: null })
    writeFileSync(copy, whole)
    const repeated = await restoring('--part', 'service')
    expect(repeated.code, repeated.err).toBe(0)
    expect(JSON.parse(repeated.out).parts).toMatchObject([
      { part: 'service', wallets: 3, frozen: false, fenced: { usedUp: 3, takenBack: 0 } },
    ])
    for (const path of filesBelow(at('service'))) expect(statSync(path).mode & 0o077, path).toBe(0)
    // Nothing is known of what came after the backup: no key may spend.
    expect(await breachOf(active)).toBe('daily')
    expect(await breachOf(idle)).toBe('daily')
  })

  test('learns nothing from a log of before the backup, by which no key was used since', async () => {
    lose('service')
    const older = await restoring('--part', 'service', '--user-log', at('b1', 'identity-provider'))
    expect(older).toMatchObject({ code: 2 })
    expect(older.err).toContain('is older than the backup, or belongs to another installation')
    await expect(quorum.connect()).rejects.toThrow('repeat countersign backup restore')
  })

  test('uses up no day that is over, by a clock that is behind', async () => {
    const dayAgoMs = Date.now() - 86_400_000
    const clock = vi.spyOn(Date, 'now').mockReturnValue(dayAgoMs)
    const early = await restoring('--part', 'service').finally(() => clock.mockRestore())
    expect(early).toMatchObject({ code: 2 })
    expect(early.err).toContain('set it right')
    await expect(quorum.connect()).rejects.toThrow('repeat countersign backup restore')
  })

  test('learns from the other side which keys were used, and which were revoked', async () => {
    const restored = await restoring('--part', 'service', '--user-log', at('identity-provider'))
    expect(restored.code, restored.err).toBe(0)
    const [part] = JSON.parse(restored.out).parts
    expect(part.fenced.takenBack).toBe(1)
    expect(await breachOf(active)).toBe('daily')
    expect(await breachOf(idle)).toBeNull()
    expect(await reading(({ keys }) => keys.byId(revoked.keyId)?.revokedAtMs)).toBeGreaterThan(0)
    expect(await reading(({ keys }) => keys.byId(active.keyId)?.revokedAtMs)).toBeNull()
  })

  test('never gives a place of its events again', async () => {
    const next = await appendOne()
    expect(next.seq).toBeGreaterThan(lastBefore + 2 ** 35)
    const found = await reading(({ events }) => events.byId(USER_ID, next.eventId)?.seq)
    expect(found).toBe(next.seq)
    const all = await reading(({ events }) => [...events.ofUser(USER_ID, 0, next.seq)].length)
    expect(all).toBe(2)
  })

  test('signs at no nonce that was taken since, and goes on at the next', async () => {
    await quorum.connect()
    const taken = await quorum.coSigner.sign(requestOf(active, transfer(2, { value: 77n })))
    expect(taken).toMatchObject({ ok: false, reason: 'NONCE_TAKEN' })
    await signed(quorum, requestOf(active, transfer(3)))
    const dead = await quorum.coSigner.sign(requestOf(revoked, transfer(0)))
    expect(dead).toMatchObject({ ok: false, reason: 'REFUSED', detail: 'NOT_GRANTED' })
  })

  test('spends again what the operator knows to be left', async () => {
    const swapped = ['--day-used', '60', '--month-used', '40']
    expect(await backup('reconcile', active.keyId, ...swapped)).toMatchObject({ code: 2 })
    const spent = ['--day-used', '40', '--month-used', '60', '--json']
    const done = await backup('reconcile', active.keyId, ...spent)
    expect(done.code, done.err).toBe(0)
    expect(JSON.parse(done.out)).toMatchObject({ day_used_before: '100.00', day_used: '40.00' })
    expect(await breachOf(active)).toBeNull()
  })
})

async function loginCounts() {
  const store = openLoginStore(at('identity-provider'))
  const counts = { users: store.users.getKeysCount(), artifacts: store.artifacts.getKeysCount() }
  await store.root.close()
  return counts
}

describe('an identity provider that lost its machine', () => {
  test('does not start before it is fenced, and then a revoked key stays dead', async () => {
    await revoke(idle)
    expect((await loginCounts()).artifacts).toBeGreaterThan(0)
    await quorum.identityProvider.kill()
    lose('identity-provider')
    const alone = await restoring('--part', 'user')
    expect(alone.code, alone.err).toBe(0)
    expect(JSON.parse(alone.out).parts).toMatchObject([
      { part: 'user', wallets: 3, unfenced: true },
    ])
    expect(existsSync(at('identity-provider', 'vault', 'unfenced.json'))).toBe(true)
    // Accounts are there; sessions of then, which may have been ended since, are not.
    expect(await loginCounts()).toEqual({ users: 1, artifacts: 0 })
    lose('identity-provider')
    const fenced = await restoring('--part', 'user', '--service-log', at('service', 'custody'))
    expect(fenced.code, fenced.err).toBe(0)
    expect(JSON.parse(fenced.out).parts).toMatchObject([{ unfenced: false, frozen: false }])
    quorum.identityProvider = await quorum.startIdentityProvider()
    expect(await quorum.coSigner.whenReady(READY_MS)).toBe(true)
    const dead = await quorum.coSigner.sign(requestOf(idle, transfer(0)))
    expect(dead).toMatchObject({ ok: false, reason: 'REFUSED', detail: 'NOT_GRANTED' })
    await signed(quorum, requestOf(active, transfer(4)))
  })
})

describe('an instance of which no machine is left', () => {
  test('stays frozen on both sides until the operator lifts it', async () => {
    await quorum.coSigner.close()
    await Promise.all([quorum.identityProvider.kill(), quorum.quorumSigner.kill()])
    lose('service', 'identity-provider', 'quorum-signer', 'registry.json', 'root', 'lists')
    const restored = await restoring('--nothing-outlived')
    expect(restored.code, restored.err).toBe(0)
    expect(restored.err).toContain('countersign custody unfreeze --domain user')
    quorum.identityProvider = await quorum.startIdentityProvider()
    quorum.quorumSigner = await quorum.startQuorumSigner()
    await quorum.connect()
    const frozen = await quorum.coSigner.sign(requestOf(idle, transfer(0)))
    expect(frozen).toMatchObject({ ok: false })
    expect(JSON.stringify(frozen)).toMatch(/FROZEN/)
    expect(await breachOf(idle)).toBe('daily')
  })
})
