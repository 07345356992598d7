import { createHash } from 'node:crypto'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  registryPath,
  rootPrivateKeyPath,
  serviceLayout,
  userSideLayout,
} from '../../src/custody/domain-keys/layout.js'
import { readRegistryFile } from '../../src/custody/domain-keys/registry-file.js'
import { nextWrappingKeyPath } from '../../src/custody/key-stores/wrapping-key.js'
import { makeRegistryRoot } from '../../src/custody-tools/provisioning/registry-root.js'
import type { RegistryBody } from '../../src/quorum-protocol/registry.js'
import { countersign, countersignOk, killedWhen } from './command.js'
import {
  type Quorum,
  type ReadyWallet,
  readyWallet,
  requestOf,
  signed,
  startQuorum,
  transfer,
} from './harness.js'

let quorum: Quorum
let wallet: ReadyWallet
let nonce = 0

beforeAll(async () => {
  quorum = await startQuorum()
  wallet = await readyWallet(quorum)
})
afterAll(() => quorum?.close())

const READY_MS = 60_000
const sign = () => signed(quorum, requestOf(wallet, transfer(nonce++)))

/** Signs again as soon as the sessions stand: a newer registry makes them again. */
async function signsOnceReady(): Promise<void> {
  await expect
    .poll(async () => (await quorum.coSigner.sign(requestOf(wallet, transfer(nonce++)))).ok, {
      timeout: READY_MS,
      interval: 100,
    })
    .toBe(true)
}

function registry(): RegistryBody {
  const { body } = readRegistryFile(registryPath(quorum.home))
  return JSON.parse(Buffer.from(body).toString('utf8')) as RegistryBody
}

function signingKeys(): string[] {
  const names = readdirSync(serviceLayout(quorum.home).keys)
  return names.filter((name) => /^signing.*\.pem$/.test(name))
}

describe('the co-signer key', () => {
  const root = () => rootPrivateKeyPath(quorum.home)

  test('is rotated under running domains; the service signs with the new one', async () => {
    const version = registry().version
    await countersignOk(quorum.home, ['custody', 'rotate-cosigner', '--root', root()])
    const next = registry()
    expect(next.version).toBe(version + 1)
    expect(next.co_signers).toHaveLength(2)
    expect(next.co_signers[0]?.not_after_ms).toBeGreaterThan(Date.now())
    await expect
      .poll(() => quorum.coSigner.coSignerKid, { timeout: READY_MS })
      .toBe(kidOf(next.co_signers[1]?.public_key))
    await signsOnceReady()
  })

  test('is ended at once in an emergency, in each domain by itself', async () => {
    await countersignOk(quorum.home, [
      'custody',
      'rotate-cosigner',
      '--root',
      root(),
      '--emergency',
    ])
    const { co_signers } = registry()
    expect(co_signers.slice(0, -1).every((row) => (row.not_after_ms ?? 0) <= Date.now())).toBe(true)
    await expect
      .poll(() => quorum.coSigner.coSignerKid, { timeout: READY_MS })
      .toBe(kidOf(co_signers.at(-1)?.public_key))
    await signsOnceReady()
  })

  test('is rotated by a draft that the root signs elsewhere', async () => {
    const before = readFileSync(registryPath(quorum.home))
    const signsNow = quorum.coSigner.coSignerKid
    const draft = join(quorum.home, 'draft.json')
    const out = join(quorum.home, 'next-registry.json')
    await countersignOk(quorum.home, ['custody', 'rotate-cosigner', '--draft', draft])
    expect(readFileSync(registryPath(quorum.home))).toEqual(before)
    // What the present key signs until the root has signed, some day, has to verify for good.
    const { co_signers } = JSON.parse(readFileSync(draft, 'utf8')) as RegistryBody
    const present = co_signers.find(({ public_key }) => kidOf(public_key) === signsNow)
    expect(present?.not_after_ms).toBeGreaterThan(Date.now() + 6 * 86_400_000)
    const signing = ['custody', 'sign-registry', '--root', root(), '--draft', draft, '--out', out]
    await countersignOk(quorum.home, signing)
    await countersignOk(quorum.home, ['custody', 'install-registry', out])
    await expect
      .poll(() => quorum.coSigner.coSignerKid, { timeout: READY_MS })
      .toBe(kidOf(registry().co_signers.at(-1)?.public_key))
    await signsOnceReady()
  })

  test('is taken up as soon as it can be used, where it could not be at once', async () => {
    const draft = join(quorum.home, 'emergency-draft.json')
    const out = join(quorum.home, 'emergency-registry.json')
    const present = new Set(signingKeys())
    const rotating = ['custody', 'rotate-cosigner', '--emergency', '--draft', draft]
    await countersignOk(quorum.home, rotating)
    const [made] = signingKeys().filter((name) => !present.has(name))
    if (made === undefined) throw new Error('no key was made')
    const key = join(serviceLayout(quorum.home).keys, made)
    const away = join(quorum.home, made)
    renameSync(key, away)
    const signing = ['custody', 'sign-registry', '--root', root(), '--draft', draft, '--out', out]
    await countersignOk(quorum.home, signing)
    await countersignOk(quorum.home, ['custody', 'install-registry', out])
    await expect.poll(() => quorum.coSigner.ready, { timeout: READY_MS }).toBe(false)
    renameSync(away, key)
    await signsOnceReady()
    expect(made).toContain(quorum.coSigner.coSignerKid)
  })

  test('stays the old one when the rotation is killed after it made a key', async () => {
    const before = readFileSync(registryPath(quorum.home))
    const present = new Set(signingKeys())
    const fresh = () => signingKeys().filter((name) => !present.has(name))
    const args = ['custody', 'rotate-cosigner', '--draft', join(quorum.home, 'never.json')]
    await killedWhen(quorum.home, args, () => fresh().length > 0)
    expect(readFileSync(registryPath(quorum.home))).toEqual(before)
    await sign()
    // The next attempt takes the key that is there.
    const [made] = fresh()
    await countersignOk(quorum.home, ['custody', 'rotate-cosigner', '--root', root()])
    expect(fresh()).toEqual([made])
    expect(made).toContain(kidOf(registry().co_signers.at(-1)?.public_key))
    await signsOnceReady()
  })

  test('a registry that another root signed is refused by name, and nothing changes', async () => {
    const before = readFileSync(registryPath(quorum.home))
    const keys = signingKeys()
    const other = makeRegistryRoot(join(quorum.home, 'other-root'))
    const args = ['custody', 'rotate-cosigner', '--root', other.privateKey]
    const refused = await countersign(quorum.home, args)
    expect(refused.code).toBe(1)
    expect(refused.stderr).toContain(`${other.privateKey} is not the root that`)

    const draft = join(quorum.home, 'forged-draft.json')
    writeFileSync(draft, JSON.stringify({ ...registry(), version: 99 }))
    const forged = join(quorum.home, 'forged.json')
    const signing = ['--root', other.privateKey, '--draft', draft, '--out', forged]
    await countersignOk(quorum.home, ['custody', 'sign-registry', ...signing])
    const installing = await countersign(quorum.home, ['custody', 'install-registry', forged])
    expect(installing.code).toBe(1)
    expect(installing.stderr).toContain(forged)
    expect(installing.stderr).toContain('not signed by the root')
    expect(readFileSync(registryPath(quorum.home))).toEqual(before)
    expect(signingKeys()).toEqual(keys)
  })

  test('an older registry is refused by name', async () => {
    const draft = join(quorum.home, 'older-draft.json')
    const older = join(quorum.home, 'older.json')
    writeFileSync(draft, JSON.stringify({ ...registry(), version: 1 }))
    const signing = ['--root', root(), '--draft', draft, '--out', older]
    await countersignOk(quorum.home, ['custody', 'sign-registry', ...signing])
    const { code, stderr } = await countersign(quorum.home, ['custody', 'install-registry', older])
    expect(code).toBe(1)
    expect(stderr).toMatch(/older\.json is version 1, older than the installed registry/)
  })
})

describe.each(['service', 'user'] as const)('the wrapping key of the %s domain', (domain) => {
  const layout = () =>
    domain === 'service' ? serviceLayout(quorum.home) : userSideLayout(quorum.home)
  const rotating = ['custody', 'rotate-wrapping-keys', '--domain', domain]
  const checking = ['custody', 'check', '--domain', domain]

  test('is rotated while the domain runs; both copies open under the new one alone', async () => {
    const before = readFileSync(layout().wrappingKey)
    await countersignOk(quorum.home, rotating)
    expect(readFileSync(layout().wrappingKey).equals(before)).toBe(false)
    expect(existsSync(nextWrappingKeyPath(layout().wrappingKey))).toBe(false)
    expect(await countersignOk(quorum.home, checking)).toContain('1')
    await sign()
    // Under the key from before, neither copy opens.
    const other = join(quorum.home, `before-${domain}`)
    mkdirSync(other, { mode: 0o700 })
    for (const copy of [layout().shares, layout().sharesCopy]) {
      const { refused } = await opensUnder(before, copy, join(other, String(Math.random())))
      expect(refused).toMatch(/wrapped under another wrapping key/)
    }
  })

  test('is the old or the new one after a kill at any point, and the rotation can go on', async () => {
    const next = nextWrappingKeyPath(layout().wrappingKey)
    // From the moment the next key is there, a little later each time.
    for (const turns of [0, 8]) {
      let seen = 0
      await killedWhen(quorum.home, rotating, () => existsSync(next) && seen++ >= turns)
      expect(await countersignOk(quorum.home, checking)).toContain('1')
    }
    await countersignOk(quorum.home, rotating)
    expect(existsSync(next)).toBe(false)
    expect(await countersignOk(quorum.home, checking)).toContain('1')
    await sign()
  })

  test('a missing or foreign one is named', async () => {
    const { wrappingKey } = layout()
    const kept = readFileSync(wrappingKey)
    writeFileSync(wrappingKey, Buffer.alloc(32, 7), { mode: 0o600 })
    const foreign = await countersign(quorum.home, checking)
    expect(foreign.code).toBe(1)
    expect(foreign.stderr).toContain(layout().shares)
    expect(foreign.stderr).toContain('wrapped under another wrapping key')
    writeFileSync(wrappingKey, Buffer.alloc(31), { mode: 0o600 })
    const broken = await countersign(quorum.home, checking)
    expect(broken.stderr).toContain(`${wrappingKey} is not a wrapping key`)
    writeFileSync(wrappingKey, kept, { mode: 0o600 })
  })
})

async function opensUnder(
  key: Buffer,
  store: string,
  copy: string,
): Promise<{ refused: string | null }> {
  const { openShareStore } = await import('../../src/custody/domain-keys/share-store.js')
  for (const name of ['shares', 'shares-copy']) {
    mkdirSync(join(copy, name), { recursive: true })
    copyFileSync(join(store, 'data.mdb'), join(copy, name, 'data.mdb'))
  }
  const layout = { shares: join(copy, 'shares'), sharesCopy: join(copy, 'shares-copy') }
  try {
    const domain = store.includes('vault') ? 'user' : 'service'
    await openShareStore(domain, layout, [Buffer.from(key)]).close()
    return { refused: null }
  } catch (error) {
    return { refused: (error as Error).message }
  }
}

function kidOf(publicKey: string | undefined): string {
  return createHash('sha256')
    .update(Buffer.from(publicKey ?? '', 'hex'))
    .digest('hex')
    .slice(0, 16)
}
