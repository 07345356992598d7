import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { open } from 'lmdb'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startChild } from '../../bench/child-process.js'
import { registryPath, userSideLayout } from '../../src/custody/domain-keys/layout.js'
import { openShareCopies } from '../../src/custody/domain-keys/share-copies.js'
import { readManifest, sha256OfFile } from '../../src/custody-tools/maintenance/backup-domain.js'
import { restoreDomain } from '../../src/custody-tools/maintenance/restore-domain.js'
import { provisionDev } from '../../src/custody-tools/provisioning/provision.js'
import { ulidBytes } from '../../src/domain/ids.js'
import { openLoginStore } from '../../src/identity-provider/login/login-store.js'
import { countersign, countersignOk, killedWhen } from './command.js'
import { type Quorum, type ReadyWallet, readyWallet, startQuorum, testChains } from './harness.js'

/**
 * One home with two wallets, stopped; each test hurts a copy of it. What must hold each time: the
 * error names the file and the reason, and nothing is overwritten.
 */
let quorum: Quorum
let wallets: ReadyWallet[]
let backup: string
let older: string
let home: string

beforeAll(async () => {
  quorum = await startQuorum()
  wallets = [await readyWallet(quorum), await readyWallet(quorum)]
  older = join(quorum.home, 'older-backup')
  await countersignOk(quorum.home, ['custody', 'backup', '--domain', 'user', '--to', older])
  await countersignOk(quorum.home, ['custody', 'refresh-shares', wallets[0]?.walletId ?? ''])
  backup = join(quorum.home, 'backup')
  await countersignOk(quorum.home, ['custody', 'backup', '--domain', 'user', '--to', backup])
  await quorum.coSigner.close()
  await quorum.identityProvider.stop()
  await quorum.quorumSigner.stop()
  home = quorum.home
})
afterAll(() => quorum?.close())

/** The home's files as they are now, in a place of its own. */
function copyOfHome(): string {
  const copy = mkdtempSync(join(tmpdir(), 'cs-bad-'))
  cpSync(home, copy, { recursive: true, filter: (path) => !path.endsWith('.sock') })
  return copy
}

/** Every file of the user side, to tell that none changed; LMDB's lock files come and go. */
function contentOf(at: string): Map<string, string> {
  const root = join(at, 'identity-provider', 'vault')
  const names = readdirSync(root, { recursive: true, encoding: 'utf8' })
  return new Map(
    names
      .filter((name) => /\.(mdb|key|pem|json)$/.test(name) && !name.endsWith('lock.mdb'))
      .map((name) => [name, readFileSync(join(root, name)).toString('base64')]),
  )
}

async function refusedRestore(at: string, from: string): Promise<string> {
  const before = contentOf(at)
  const restoring = restoreDomain({
    home: at,
    domain: 'user',
    from,
    olderEpochs: 'refuse',
    wrappingKeyPath: null,
  })
  const reason = await restoring.then(
    () => 'restored',
    (error: Error) => error.message,
  )
  expect(contentOf(at)).toEqual(before)
  return reason
}

describe('a restore that must not be', () => {
  test('of another domain, of another installation, of half a backup', async () => {
    const at = copyOfHome()
    const wrong = await countersign(at, [
      ...['custody', 'restore', '--domain', 'service', '--from', backup],
    ])
    expect(wrong.stderr).toContain(`${backup} is a backup of the user domain, not of service`)

    const stranger = mkdtempSync(join(tmpdir(), 'cs-bad-'))
    await provisionDev(stranger, { chains: testChains() })
    const other = await countersign(stranger, [
      ...['custody', 'restore', '--domain', 'user', '--from', backup],
    ])
    expect(other.stderr).toContain(`${backup} is a backup of another installation`)
    expect(existsSync(userSideLayout(stranger).shares)).toBe(false)

    const half = join(at, 'half')
    mkdirSync(half)
    cpSync(join(backup, 'shares'), join(half, 'shares'), { recursive: true })
    expect(await refusedRestore(at, half)).toContain(`${join(half, 'backup.json')} is missing`)
    rmSync(stranger, { recursive: true })
    rmSync(at, { recursive: true })
  })

  test('of shares that were cut off, damaged, or put under another wallet’s name', async () => {
    const at = copyOfHome()
    const damaged = (name: string): string => {
      const path = join(at, name)
      cpSync(backup, path, { recursive: true })
      return path
    }
    const cut = damaged('cut')
    truncateSync(join(cut, 'shares', 'data.mdb'), 100)
    expect(await refusedRestore(at, cut)).toContain(
      `${join(cut, 'shares', 'data.mdb')} has changed since the backup`,
    )
    await signOff(cut)
    expect(await refusedRestore(at, cut)).toMatch(/data\.mdb is not an LMDB file/)

    const [first, second] = wallets.map(({ walletId }) => Buffer.from(ulidBytes(walletId)))
    if (first === undefined || second === undefined) throw new Error('no wallets')
    const flipped = damaged('flipped')
    await edit(flipped, async (records) => {
      const record = Buffer.from(records.get(first))
      // Inside the sealed share, near the record’s end.
      const at = record.indexOf(Buffer.from('share')) + 30
      record[at] = (record[at] ?? 0) ^ 1
      await records.put(first, record)
    })
    const name = first.toString('hex')
    expect(await refusedRestore(at, flipped)).toContain(
      `wallet ${name}: the sealed record cannot be opened`,
    )

    const swapped = damaged('swapped')
    await edit(swapped, async (records) => {
      await records.put(first, Buffer.from(records.get(second)))
    })
    expect(await refusedRestore(at, swapped)).toContain(
      `wallet ${name}: its certificate is of another wallet`,
    )
    rmSync(at, { recursive: true })
  })

  test('of an epoch that a refresh has left, unless both sides go back', async () => {
    const at = copyOfHome()
    const name = Buffer.from(ulidBytes(wallets[0]?.walletId ?? '')).toString('hex')
    const refused = await refusedRestore(at, older)
    expect(refused).toContain(`backup ${older}: wallet ${name} is at epoch 1, this domain at 2`)
    const accepted = ['custody', 'restore', '--domain', 'user', '--from', older, '--older-epochs']
    expect(await countersignOk(at, [...accepted, '--json'])).toContain('"wallets": 2')
    // Where a journal has later ones, these take their place.
    const copies = openShareCopies(userSideLayout(at))
    const marks = copies.marks.list(3).map((walletId) => copies.marks.of(walletId))
    expect([marks, copies.marks.levelWith]).toEqual([['restored', 'restored'], ''])
    await copies.close()
    rmSync(at, { recursive: true })
  })

  test('that was sealed before the wrapping key was rotated needs the key of its time', async () => {
    const at = copyOfHome()
    const { wrappingKey } = userSideLayout(at)
    const kept = join(at, 'kept.key')
    copyFileSync(wrappingKey, kept)
    await countersignOk(at, ['custody', 'rotate-wrapping-keys', '--domain', 'user'])
    expect(await refusedRestore(at, backup)).toContain('wrapped under another wrapping key')
    const args = ['custody', 'restore', '--domain', 'user', '--from', backup]
    await countersignOk(at, [...args, '--wrapping-key', kept])
    expect(await countersignOk(at, ['custody', 'check', '--domain', 'user', '--json'])).toContain(
      '"wallets": 2',
    )
    rmSync(at, { recursive: true })
  })

  test('that is killed among its renames is finished by the next, and nothing starts before', async () => {
    const at = copyOfHome()
    const { shares, ledger } = userSideLayout(at)
    const note = join(shares, '..', 'restore.json')
    const args = ['custody', 'restore', '--domain', 'user', '--from', backup]
    await killedWhen(at, args, () => existsSync(note))
    if (!existsSync(note)) {
      // It was faster than the look: the same state by hand.
      writeFileSync(note, JSON.stringify({ aside: '-before-restore-1' }))
      cpSync(join(backup, 'ledger'), `${ledger}-restoring`, { recursive: true })
    }
    const env = { COUNTERSIGN_HOME: at, IDENTITY_PORT: '0' }
    await expect(startChild('dist/src/identity-provider/main.js', env)).rejects.toThrow(
      /restore\.json: a restore was interrupted/,
    )
    await countersignOk(at, args)
    expect(existsSync(note)).toBe(false)
    expect(await countersignOk(at, ['custody', 'check', '--domain', 'user', '--json'])).toContain(
      '"wallets": 2',
    )
    rmSync(at, { recursive: true })
  })
})

describe('a domain that must not start', () => {
  test('with a share file that is none: it names the file', async () => {
    const at = copyOfHome()
    const path = join(userSideLayout(at).shares, 'data.mdb')
    writeFileSync(path, 'not a database, but long enough to be read as one'.repeat(400))
    const before = readFileSync(path)
    const env = { COUNTERSIGN_HOME: at, IDENTITY_PORT: '0' }
    await expect(startChild('dist/src/identity-provider/main.js', env)).rejects.toThrow(
      /shares\/data\.mdb is not an LMDB file/,
    )
    expect(readFileSync(path)).toEqual(before)
    rmSync(at, { recursive: true })
  })

  test('with any of its stores cut off: it names the file, and ends by itself', async () => {
    const at = copyOfHome()
    const { shares, ledger, evidence } = userSideLayout(at)
    const env = { COUNTERSIGN_HOME: at, IDENTITY_PORT: '0' }
    const login = join(at, 'identity-provider', 'login.mdb')
    if (!existsSync(login)) await openLoginStore(join(at, 'identity-provider')).root.close()
    const files = [shares, ledger, evidence].map((path) => join(path, 'data.mdb'))
    for (const path of [...files, login]) {
      const before = readFileSync(path)
      // Of two pages that say where the others are, one and both are left.
      for (const bytes of [5_000, 8_192]) {
        truncateSync(path, bytes)
        await expect(startChild('dist/src/identity-provider/main.js', env), path).rejects.toThrow(
          new RegExp(
            `main\\.js ended with 1: [\\s\\S]*${path}[\\s\\S]* (is truncated|or is incomplete)`,
          ),
        )
      }
      writeFileSync(path, before)
    }
    rmSync(at, { recursive: true })
  })

  test('with evidence that its ledger does not cover and that was changed: it names the entry', async () => {
    const at = copyOfHome()
    const { ledger, evidence } = userSideLayout(at)
    const books = open({ path: ledger, overlappingSync: false, maxDbs: 16 })
    const covered = books.openDB<number, number>({ name: '06-covered' })
    expect(covered.get(0)).toBeGreaterThan(2)
    await covered.put(0, 1)
    await books.close()
    const log = open({ path: evidence, overlappingSync: false, maxDbs: 4 })
    const entries = log.openDB<Buffer, [number, number]>({
      name: '02-evidence',
      encoding: 'binary',
    })
    const changed = Buffer.from(entries.get([0, 2]) ?? '')
    changed[changed.length - 1] = (changed.at(-1) ?? 0) ^ 1
    await entries.put([0, 2], changed)
    await log.close()
    const env = { COUNTERSIGN_HOME: at, IDENTITY_PORT: '0' }
    await expect(startChild('dist/src/identity-provider/main.js', env)).rejects.toThrow(
      /vault\/evidence: entry 2 does not match its hash/,
    )
    rmSync(at, { recursive: true })
  })

  test('with a registry that the root did not sign: it names file and reason', async () => {
    const at = copyOfHome()
    const path = registryPath(at)
    const registry = JSON.parse(readFileSync(path, 'utf8')) as { body: string; signature: string }
    const signature = Buffer.from(registry.signature, 'base64')
    signature[5] = (signature[5] ?? 0) ^ 1
    writeFileSync(path, JSON.stringify({ ...registry, signature: signature.toString('base64') }))
    for (const entry of ['quorum-signer', 'identity-provider']) {
      const env = { COUNTERSIGN_HOME: at, IDENTITY_PORT: '0' }
      await expect(startChild(`dist/src/${entry}/main.js`, env)).rejects.toThrow(
        /registry\.json against .*root\.pub\.pem: UNAUTHENTIC: registry is not signed by the root/,
      )
    }
    writeFileSync(path, '{"body": 1')
    await expect(
      startChild('dist/src/quorum-signer/main.js', { COUNTERSIGN_HOME: at }),
    ).rejects.toThrow(/registry\.json is not a registry/)
    rmSync(at, { recursive: true })
  })
})

interface RawRecords {
  get(key: Buffer): Buffer
  put(key: Buffer, value: Buffer): Promise<unknown>
}

/** Makes the manifest say that the files are as they should be: what an attacker would do. */
async function signOff(path: string): Promise<void> {
  const manifest = readManifest(path)
  const shares = await sha256OfFile(join(path, 'shares', 'data.mdb'))
  const sha256 = { ...manifest.sha256, shares }
  writeFileSync(join(path, 'backup.json'), JSON.stringify({ ...manifest, sha256 }))
}

async function edit(path: string, change: (records: RawRecords) => Promise<void>): Promise<void> {
  const root = open({ path: join(path, 'shares'), overlappingSync: false, maxDbs: 8 })
  const records = root.openDB<Buffer, Buffer>({
    name: '01-wallets',
    keyEncoding: 'binary',
    encoding: 'binary',
  })
  await change(records as unknown as RawRecords)
  await root.close()
  await signOff(path)
}
