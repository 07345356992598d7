import { generateKeyPairSync } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { runProgram } from '../../src/cli/program.js'
import {
  registryPath,
  rootPrivateKeyPath,
  serviceLayout,
} from '../../src/custody/domain-keys/layout.js'
import { readRegistryFile, readRootKey } from '../../src/custody/domain-keys/registry-file.js'
import { provisionDev } from '../../src/custody-tools/provisioning/provision.js'
import {
  bodyOf,
  withNextCoSigner,
  withNodes,
} from '../../src/custody-tools/provisioning/registry-draft.js'
import { keyIdOf, p256SignerOf, rawPublicKey } from '../../src/quorum-protocol/p256.js'
import { openRegistry, registryMessage } from '../../src/quorum-protocol/registry.js'

describe('custody sign-registry', () => {
  let directory: string
  const at = (name: string) => join(directory, name)

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'cs-sign-'))
    expect((await run('make-root', '--to', at('root'))).code).toBe(0)
  })
  afterAll(() => rmSync(directory, { recursive: true, force: true }))

  async function run(...args: readonly string[]) {
    let err = ''
    const io = {
      ...{ env: {}, isInteractive: false, out: () => {} },
      err: (text: string) => {
        err += text
      },
    }
    return { code: await runProgram(io, ['custody', ...args]), err }
  }

  const sign = (...args: readonly string[]) =>
    run('sign-registry', '--root', at('root/root.pem'), '--out', at('out.json'), ...args)

  test.each([
    ['--registry', '--chains', 'FILE'],
    ['--registry', '--environment', 'live'],
    ['--registry', '--webauthn-rp-id', 'example.com'],
    ['--registry', '--webauthn-origins', 'https://id.example.com'],
    ['--draft', '--registry', 'FILE'],
    ['--draft', '--enrolments', 'FILE'],
    ['--draft', '--environment', 'dev'],
  ])('with %s refuses %s, which it would drop', async (by, flag, value) => {
    const file = at('any.json')
    writeFileSync(file, '{}')
    const enrolments = by === '--registry' ? ['--enrolments', file] : []
    const given = [by, file, ...enrolments, flag, value.replace('FILE', file)]
    const { code, err } = await sign(...given)
    expect([code, err]).toEqual([
      2,
      expect.stringContaining(`${flag} cannot be combined with ${by}`),
    ])
  })
})

test('the next registry is drafted as the present one, changed, signed and installed', async () => {
  const home = mkdtempSync(join(tmpdir(), 'cs-draft-'))
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
  await provisionDev(home)
  const custody = async (...args: readonly string[]) => {
    let err = ''
    const io = {
      ...{ env: { COUNTERSIGN_HOME: home }, isInteractive: false, out: () => {} },
      err: (text: string) => {
        err += text
      },
    }
    return { code: await runProgram(io, ['custody', ...args]), err }
  }
  const draft = join(home, 'draft.json')
  const drafted = ['draft-registry', '--out', draft]
  expect(await custody(...drafted)).toEqual({ code: 0, err: '' })
  const root = readRootKey(serviceLayout(home).rootKey)
  const present = bodyOf(openRegistry(readRegistryFile(registryPath(home)), root))
  const next = JSON.parse(readFileSync(draft, 'utf8'))
  expect(next).toEqual({
    ...{ ...present, version: present.version + 1 },
    issued_at_ms: expect.any(Number),
  })
  // What is being changed by hand is not written over.
  expect((await custody(...drafted)).code).not.toBe(0)
  const other = join(home, 'other.json')
  const unknown = await custody('draft-registry', '--out', other, '--end', '00'.repeat(8))
  expect([unknown.code, unknown.err]).toEqual([1, expect.stringContaining('with the id 00000000')])
  expect(existsSync(other)).toBe(false)
  const point = Buffer.from(next.co_signers[0].public_key, 'hex')
  const last = ['--end', keyIdOf(point).toString('hex')]
  expect((await custody('draft-registry', '--out', other, ...last)).err).toContain('would remain')
  expect(existsSync(other)).toBe(false)
  const [lost] = next.quorum_signers
  next.quorum_signers = [{ ...lost, not_after_ms: Date.now() }]
  writeFileSync(draft, JSON.stringify(next))
  const signed = join(home, 'signed.json')
  const by = ['--root', rootPrivateKeyPath(home), '--draft', draft]
  expect(await custody('sign-registry', ...by, '--out', signed)).toEqual({ code: 0, err: '' })
  expect(await custody('install-registry', signed)).toEqual({ code: 0, err: '' })
  const installed = openRegistry(readRegistryFile(registryPath(home)), root)
  expect(installed.version).toBe(present.version + 1)
  expect(installed.keysOf('quorum_signers', Date.now() + 1)).toEqual([])
})

test('a co-signer key is replaced alone: those of other machines’ services go on', () => {
  const point = (name: string) => Buffer.from(`04${name.repeat(64)}`, 'hex')
  const row = (name: string) => ({
    ...{ public_key: point(name).toString('hex'), not_before_ms: 0, not_after_ms: null },
  })
  const lists = {
    co_signers: [row('01'), row('02')],
    approvers: [],
    quorum_signers: [],
    chains: [],
  }
  const present = { version: 1, environment: 'live', issued_at_ms: 0, ...lists } as const
  const next = withNextCoSigner(present, point('03'), [point('02'), point('03')], 1_000, 500)
  expect(next.co_signers).toEqual([row('01'), { ...row('02'), not_after_ms: 1_500 }, row('03')])
})

test('a quorum signer that was added counts at once, however far the root’s clock is ahead', async () => {
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const public_key = rawPublicKey(publicKey).toString('hex')
  const lists = { co_signers: [], approvers: [], quorum_signers: [], chains: [] }
  const present = { version: 1, environment: 'live', issued_at_ms: 0, ...lists } as const
  const aheadMs = Date.now() + 3_600_000
  const next = withNodes(present, [{ role: 'quorum_signers', public_key }], aheadMs)
  const root = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const body = Buffer.from(JSON.stringify(next))
  const signature = await p256SignerOf(root.privateKey).sign(registryMessage(body))
  const registry = openRegistry({ body, signature }, root.publicKey)
  expect(registry.keysOf('quorum_signers', Date.now())).toHaveLength(1)
})

test('a key of its own is made once for a service, and for no other domain', async () => {
  const home = mkdtempSync(join(tmpdir(), 'cs-own-key-'))
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
  await provisionDev(home)
  const provision = async (domain: string) => {
    const [enrolment, rootPublic] = [join(home, 'e.json'), serviceLayout(home).rootKey]
    rmSync(enrolment, { force: true })
    const words = ['--domain', domain, '--root-public', rootPublic, '--enrolment', enrolment]
    let said = ''
    const say = (text: string) => {
      said += text
    }
    const io = { env: { COUNTERSIGN_HOME: home }, isInteractive: false, out: say, err: say }
    const code = await runProgram(io, ['custody', 'provision', '--new-key', '--json', ...words])
    return { code, said }
  }
  const keys = () => readdirSync(serviceLayout(home).keys).filter((name) => /^signing/.test(name))
  const shared = readFileSync(join(serviceLayout(home).keys, 'signing.pem'))
  const first = await provision('service')
  expect(first.code, first.said).toBe(0)
  expect(keys()).toEqual(['signing.pem'])
  expect(readFileSync(join(serviceLayout(home).keys, 'signing.pem'))).not.toEqual(shared)
  // The registry does not name it yet: repeated, it is the same.
  expect((await provision('service')).said).toBe(first.said)
  expect(await provision('user')).toMatchObject({ code: 2 })
})
