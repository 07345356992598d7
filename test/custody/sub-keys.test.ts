import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { auditHome } from '../../src/custody-tools/maintenance/audit-home.js'
import type { GrantUpdate } from '../../src/service-custody/co-signer.js'
import { policyOf } from '../policy/random-policies.js'
import { faultOf, grantPut, newGrant } from './grants.js'
import {
  newKeyId,
  type Quorum,
  type ReadyWallet,
  readyWallet,
  requestOf,
  startQuorum,
  transfer,
} from './harness.js'
import { becomeService, type HostileService, refusalOf } from './hostile.js'
import { ALICE, pays, USDC } from './policy-cases.js'
import { HOUR_MS, lineageOf, type SubKey, subKeyOf, subKeyPut } from './sub-keys.js'

/** What the user side makes of keys that keys make, whatever the service says. */
const NOT_GRANTED = { reason: 'REFUSED', detail: 'NOT_GRANTED' }
const POLICY = {
  default: 'allow',
  rules: [{ name: 'no large ones', effect: 'deny', when: { value_native_gt: '5000' } }],
  ceilings: [{ chain_id: 8453, token: USDC, per: 'day', amount: '1500' }],
}
const MAKER: Partial<GrantUpdate> = {
  ...{ dailyLimitMicros: 10_000_000n, monthlyLimitMicros: 20_000_000n },
  ...{ policy: policyOf(POLICY), mayDelegate: true },
}

let quorum: Quorum
let service: HostileService

beforeAll(async () => {
  quorum = await startQuorum()
  service = await becomeService(quorum)
})
afterAll(async () => {
  await service?.close()
  await quorum?.close()
})

const maker = (terms: Partial<GrantUpdate> = {}) =>
  readyWallet(quorum, [1, 8453], { ...MAKER, ...terms })

async function made(
  by: ReadyWallet & { readonly lineageId?: SubKey['lineageId'] },
  terms: Partial<GrantUpdate> = {},
): Promise<SubKey> {
  const { key, update } = subKeyOf(quorum, by, { policy: policyOf(POLICY), ...terms })
  await quorum.coSigner.putGrant(update)
  return key
}

const attempt = (parts: unknown[]) => refusalOf(service.userSide.call('grant-put', parts))

function changeOf(of: ReadyWallet, what: Partial<GrantUpdate>): GrantUpdate {
  return newGrant(quorum, of.walletId, {
    ...{ ...MAKER, keyId: of.keyId, proofKey: null, allowedChains: [1, 8453], effect: 'narrows' },
    ...what,
  })
}

let nonce = 0
const signing = (of: ReadyWallet, change: Parameters<typeof transfer>[1] = {}) =>
  quorum.coSigner.sign(requestOf(of, transfer(nonce++, change)))
const paying = (of: ReadyWallet, amount: bigint) =>
  signing(of, { to: USDC, value: 0n, data: pays(ALICE, amount), gasLimit: 100_000n })

const WIDER: readonly [field: string, terms: Partial<GrantUpdate>][] = [
  ['another chain', { allowedChains: [1, 10] }],
  ['a larger daily cap', { dailyLimitMicros: 10_000_001n }],
  ['no daily cap', { dailyLimitMicros: null }],
  ['a larger monthly cap', { monthlyLimitMicros: 20_000_001n }],
  ['no monthly cap', { monthlyLimitMicros: null }],
  ['assets without a price', { unpricedAssets: 'allow' }],
  ['no policy', { policy: null }],
  ['a wider policy', { policy: policyOf({ default: 'allow' }) }],
  ['a policy that cannot be compared', { policy: policyOf({ ...POLICY, rules: [] }) }],
]

describe('of a key that another makes, past the service’s own checks, the user side refuses', () => {
  let root: ReadyWallet
  beforeAll(async () => {
    root = await maker()
  })

  test.each(WIDER)('one with %s', async (_, terms) => {
    const { update } = subKeyOf(quorum, root, { policy: policyOf(POLICY), ...terms })
    expect(await attempt(subKeyPut(update))).toBe('NOT_GRANTED')
  })

  test('one that outlives its maker, or an ancestor', async () => {
    const root = await maker()
    const expiresAt = Date.now() + HOUR_MS
    const child = await made(root, { mayDelegate: true, expiresAt })
    const policy = policyOf(POLICY)
    for (const later of [expiresAt + 1, null]) {
      const { update } = subKeyOf(quorum, child, { policy, expiresAt: later })
      expect(await attempt(subKeyPut(update))).toBe('NOT_GRANTED')
    }
    const { update } = subKeyOf(quorum, child, { policy, expiresAt })
    expect(await attempt(subKeyPut(update))).toBe('none')
  })

  test('one of a maker that makes none, reads alone, has ended, or is of another wallet', async () => {
    const policy = policyOf(POLICY)
    const makesNone = await maker({ mayDelegate: false })
    const reads = await maker({ permission: 'read' })
    const ended = await maker()
    await quorum.coSigner.putGrant(changeOf(ended, { revoked: true, consoleToken: null }))
    for (const by of [makesNone, reads, ended]) {
      const { update } = subKeyOf(quorum, by, { policy, permission: 'read' })
      expect(await attempt(subKeyPut(update))).toBe('NOT_GRANTED')
    }
    const [one, other] = [await maker(), await maker()]
    const { update } = subKeyOf(quorum, one, { policy })
    const elsewhere = { ...update, walletId: other.walletId }
    expect(await attempt(subKeyPut(elsewhere))).toBe('NOT_GRANTED')
    const foreign = { ...update, parentLineageId: lineageOf(other.keyId) }
    expect(await attempt(subKeyPut(foreign))).toBe('NOT_GRANTED')
    const unknown = { ...update, madeBy: { keyId: newKeyId(), proofKey: one.proofKey } }
    expect(await attempt(subKeyPut(unknown))).toBe('UNKNOWN_KEY')
  })

  test('one that its maker did not ask for', async () => {
    const root = await maker()
    const { update } = subKeyOf(quorum, root, { policy: policyOf(POLICY) })
    for (const proof of [null, randomBytes(32)]) {
      expect(await attempt(subKeyPut(update, proof))).toBe('KEY_PROOF_MISSING')
    }
    const proofOf = subKeyPut(update).at(-1)
    const larger = { ...update, dailyLimitMicros: 2_000_000n }
    expect(await attempt(subKeyPut(larger, proofOf as Uint8Array))).toBe('KEY_PROOF_MISSING')
    expect(await attempt(subKeyPut(update))).toBe('none')
  })

  test('one that is too deep', async () => {
    let by: ReadyWallet & { readonly lineageId?: SubKey['lineageId'] } = await maker()
    const terms = { mayDelegate: true, policy: policyOf(POLICY), expiresAt: Date.now() + HOUR_MS }
    for (let depth = 1; depth <= 4; depth++) by = await made(by, terms)
    const { update } = subKeyOf(quorum, by, terms)
    expect(await attempt(subKeyPut(update))).toBe('NOT_GRANTED')
  })

  test('to enlarge it past its maker, whoever confirms it', async () => {
    const root = await maker()
    const child = await made(root)
    const { update } = subKeyOf(quorum, root, { policy: policyOf(POLICY), keyId: child.keyId })
    const { madeBy: _, ...present } = { ...update, proofKey: null, effect: 'enlarges' as const }
    const { consoleToken } = quorum
    const wider = { ...present, dailyLimitMicros: 10_000_001n, consoleToken }
    expect(await attempt(grantPut(wider, 0, null))).toBe('NOT_GRANTED')
    const within = { ...present, dailyLimitMicros: 10_000_000n, consoleToken }
    expect(await attempt(grantPut(within, 0, null))).toBe('none')
  })
})

describe('a key that a key made', () => {
  test('signs within its own policy and its maker’s, and both count', async () => {
    const root = await maker()
    const child = await made(root, {
      policy: policyOf({ ...POLICY, rules: [...POLICY.rules, DENY_SMALL] }),
    })
    expect(await signing(child, { value: 500n })).toMatchObject({ denial: { rule: 'small' } })
    expect(await signing(child, { value: 2_000n })).toMatchObject({ ok: true })
    expect(await paying(child, 1_000n)).toMatchObject({ ok: true })
    expect(await paying(root, 501n)).toMatchObject({ denial: { rule: 'ceilings' } })
    expect(await paying(root, 500n)).toMatchObject({ ok: true })
    expect(await paying(child, 1n)).toMatchObject({ denial: { rule: 'ceilings' } })
  })

  test('loses at once what its maker loses, and has it back with it', async () => {
    const root = await maker()
    const child = await made(root, { allowedChains: [1, 8453] })
    const narrow = changeOf(root, { allowedChains: [8453], consoleToken: null })
    await quorum.coSigner.putGrant(narrow)
    expect(await signing(child, { chainId: 1 })).toMatchObject(NOT_GRANTED)
    const strict = policyOf({ ...POLICY, default: 'deny' })
    await quorum.coSigner.putGrant({ ...narrow, policy: strict })
    expect(await signing(child)).toMatchObject({ denial: { rule: 'default' } })
    await quorum.coSigner.putGrant(changeOf(root, { effect: 'enlarges' }))
    expect(await signing(child, { chainId: 1 })).toMatchObject({ ok: true })
  })

  test('ends with its maker, but not with a rotation of it', async () => {
    const root = await maker()
    const child = await made(root, { mayDelegate: true, expiresAt: Date.now() + 2 * HOUR_MS })
    const grandchild = await made(child)
    const next = { ...root, keyId: newKeyId(), proofKey: randomBytes(32) }
    const { keyId, proofKey } = next
    await quorum.coSigner.putGrant(changeOf(root, { keyId, proofKey, rotatedFrom: root.keyId }))
    await quorum.coSigner.putGrant(
      changeOf(root, { expiresAt: Date.now() - 1, consoleToken: null }),
    )
    expect(await signing(root)).toMatchObject(NOT_GRANTED)
    expect(await signing(grandchild)).toMatchObject({ ok: true })
    await quorum.coSigner.putGrant(changeOf(next, { revoked: true, consoleToken: null }))
    for (const below of [child, grandchild]) {
      expect(await signing(below)).toMatchObject(NOT_GRANTED)
    }
  })

  test('ends with a maker in between, and with its own end', async () => {
    const root = await maker()
    const child = await made(root, { mayDelegate: true, expiresAt: Date.now() + 2 * HOUR_MS })
    const grandchild = await made(child)
    const { update } = subKeyOf(quorum, root, { policy: policyOf(POLICY), keyId: child.keyId })
    const { madeBy: _, ...ending } = { ...update, mayDelegate: true, proofKey: null }
    await quorum.coSigner.putGrant({ ...ending, expiresAt: Date.now() - 1 })
    expect(await signing(child)).toMatchObject(NOT_GRANTED)
    expect(await signing(grandchild)).toMatchObject(NOT_GRANTED)
    expect(await signing(root)).toMatchObject({ ok: true })
  })

  test('is frozen with its maker', async () => {
    const root = await maker()
    const child = await made(root)
    const { userId } = quorum
    const lineageId = lineageOf(root.keyId)
    await quorum.coSigner.freeze({ scope: 'key', userId, walletId: null, lineageId })
    expect(await signing(child)).toMatchObject({ reason: 'FROZEN' })
  })

  test('is asked for by the service within the same bounds', async () => {
    const { update } = subKeyOf(quorum, await maker(), { dailyLimitMicros: null })
    expect(await faultOf(quorum.coSigner.putGrant(update))).toMatchObject({
      code: 'PERMISSION_DENIED',
    })
  })
})

test('the evidence of all of it verifies', async () => {
  const { home } = quorum
  const places = { home, services: null, identity: null, registry: null, root: null }
  const { report } = await auditHome(places)
  // What was put past the service is in the identity provider's log alone, which is no fault of the grants.
  expect(
    report.problems.filter((problem) => problem.startsWith('identity provider log: grant')),
  ).toEqual([])
  expect(report.problems.filter((problem) => problem.startsWith('approval'))).toEqual([])
})

const DENY_SMALL = {
  name: 'small',
  effect: 'deny',
  when: { functions: ['native'], value_native_lte: '1000' },
}
