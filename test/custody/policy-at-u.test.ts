import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  registryPath,
  serviceLayout,
  userSideLayout,
} from '../../src/custody/domain-keys/layout.js'
import { readRegistryFile, readRootKey } from '../../src/custody/domain-keys/registry-file.js'
import { openEvidenceReader } from '../../src/custody/evidence/evidence-log.js'
import { readEvidence } from '../../src/custody/evidence/read-evidence.js'
import { verifyEvidence } from '../../src/custody-tools/audit/verify-evidence.js'
import { deniedApprovals } from '../../src/custody-tools/audit/verify-policies.js'
import { auditHome } from '../../src/custody-tools/maintenance/audit-home.js'
import { decodeIntent } from '../../src/quorum-protocol/intent.js'
import { openRegistry } from '../../src/quorum-protocol/registry.js'
import type { SignPayload } from '../../src/quorum-protocol/sign-payload.js'
import type { GrantUpdate } from '../../src/service-custody/co-signer.js'
import { policyOf } from '../policy/random-policies.js'
import { connectAuthorizers } from './authorizer-client.js'
import { grantPut, newGrant } from './grants.js'
import {
  newKeyId,
  newWalletId,
  type Quorum,
  type ReadyWallet,
  readyWallet,
  requestOf,
  startQuorum,
  transfer,
  USER,
  WEBAUTHN,
} from './harness.js'
import {
  approve,
  becomeService,
  coSign,
  type HostileService,
  intentFor,
  refusalOf,
} from './hostile.js'
import { ALICE, POLICY_CASES, pays, USDC } from './policy-cases.js'

/** The service gone bad: its own judgement of the policy is out of the way. */
let quorum: Quorum
let service: HostileService
let nextSeq: number
let nonce = 0

beforeAll(async () => {
  quorum = await startQuorum()
  service = await becomeService(quorum)
  nextSeq = await service.nextSeq()
})
afterAll(async () => {
  await service?.close()
  await quorum?.close()
})

/** What the user side answers for one intent. */
async function answerTo(
  wallet: ReadyWallet,
  payload: SignPayload,
  change: Parameters<typeof intentFor>[3] = {},
) {
  const seq = nextSeq++
  const batch = await coSign(service.signer, seq, [intentFor(wallet, payload, seq, change)])
  const { answers } = await approve(service, batch)
  return { answer: answers[0] ?? 'approved', id: batch.ids[0] ?? Buffer.alloc(32) }
}

test('the cases that break a static rule are sixty and more', () => {
  expect(POLICY_CASES.flatMap(({ refuses }) => refuses).length).toBeGreaterThanOrEqual(60)
})

describe.each(POLICY_CASES)('under a policy $name, the user side', (cases) => {
  let wallet: ReadyWallet
  beforeAll(async () => {
    wallet = await readyWallet(quorum, [1, 8453], { policy: policyOf(cases.policy) })
  })

  test.each(cases.refuses)('refuses %s', async (_, payload) => {
    const { answer } = await answerTo(wallet, payload(nonce++, wallet.address))
    expect(answer).toBe('POLICY_DENIED')
  })

  test.each(cases.signs)('approves %s', async (_, payload) => {
    const { answer } = await answerTo(wallet, payload(nonce++, wallet.address))
    expect(answer).toBe('approved')
  })
})

const PAYROLL = {
  default: 'deny',
  rules: [
    {
      name: 'payroll',
      effect: 'allow',
      when: { to: [USDC], amounts: [{ token: USDC, lte: '1000' }], beneficiaries: [ALICE] },
    },
  ],
}
const payment = (amount: bigint, change: Parameters<typeof transfer>[1] = {}) =>
  transfer(nonce++, {
    to: USDC,
    value: 0n,
    data: pays(ALICE, amount),
    gasLimit: 100_000n,
    ...change,
  })

describe('a policy in the grant', () => {
  let wallet: ReadyWallet
  beforeAll(async () => {
    wallet = await readyWallet(quorum, [8453], { policy: policyOf(PAYROLL) })
  })

  test('costs a batch only the intents that it refuses', async () => {
    const seq = nextSeq++
    const payloads = [payment(1n), payment(1_001n), payment(1_000n)]
    const intents = payloads.map((one, index) => intentFor(wallet, one, seq, { index }))
    const { answers, bitmap } = await approve(service, await coSign(service.signer, seq, intents))
    expect(answers).toEqual([null, 'POLICY_DENIED', null])
    expect(bitmap).toBe(0b101)
  })

  test('says in a refusal which rule and field it was, and what is permitted', async () => {
    const outcome = await quorum.coSigner.sign(requestOf(wallet, payment(1_001n)))
    expect(outcome).toMatchObject({
      ok: false,
      reason: 'REFUSED',
      detail: 'POLICY_DENIED',
      denial: {
        rule: 'default',
        field: 'amounts',
        observed: '1001',
        permitted: '1000',
        retryAt: null,
      },
    })
  })

  test('holds up no cancel, and no fee that is raised', async () => {
    const sent = payment(1_000n)
    const first = await answerTo(wallet, sent)
    const raised = { ...sent, maxFeePerGas: 4_000_000_000n, maxPriorityFeePerGas: 2_000_000_000n }
    const bump = await answerTo(wallet, raised, { proofKey: null, replaces: first.id })
    const selfSend = transfer(sent.nonce, { to: wallet.address, value: 0n })
    const cancel = await answerTo(wallet, selfSend, { proofKey: null, replaces: bump.id })
    const free = transfer(nonce++, { to: wallet.address, value: 0n })
    const gap = await answerTo(wallet, free, { proofKey: null })
    expect([first, bump, cancel, gap].map(({ answer }) => answer)).toEqual(
      Array.from({ length: 4 }, () => 'approved'),
    )
  })

  test('counts the gas of a fee that is raised in its ceilings of native coin, day by day', async () => {
    const gasLimit = 21_000n
    const wei = (gwei: bigint) => gasLimit * gwei * 10n ** 9n
    const native = { chain_id: 8453, token: 'native', per: 'day', amount: String(wei(10n) + 2n) }
    const bound = await readyWallet(quorum, [1, 8453], {
      policy: policyOf({ default: 'allow', ceilings: [native] }),
    })
    const at = nonce++
    const call = (gwei: bigint, change = {}) =>
      transfer(at, { gasLimit, value: 1n, maxFeePerGas: gwei * 10n ** 9n, ...change })
    const raise = (gwei: bigint, replaces: Uint8Array) =>
      answerTo(bound, call(gwei), { proofKey: null, replaces })
    const first = await answerTo(bound, call(2n))
    expect(first.answer).toBe('approved')
    const second = await raise(9n, first.id)
    expect(second.answer).toBe('approved')
    // One gwei of gas is left, and a wei of value: neither a call nor a fee passes that.
    expect((await raise(11n, second.id)).answer).toBe('POLICY_DENIED')
    const next = transfer(nonce++, { gasLimit, value: 2n, maxFeePerGas: 10n ** 9n })
    expect((await answerTo(bound, next)).answer).toBe('POLICY_DENIED')
    const third = await raise(10n, second.id)
    // The same bytes once more count nothing.
    const again = await answerTo(bound, call(10n), { proofKey: null })
    expect([third.answer, again.answer]).toEqual(['approved', 'approved'])
    const last = transfer(nonce, {
      ...{ gasLimit, value: 1n, maxFeePerGas: 1n, maxPriorityFeePerGas: 1n },
    })
    expect((await answerTo(bound, last)).answer).toBe('POLICY_DENIED')
    // A cancellation is held up by nothing.
    const cancel = { to: bound.address, value: 0n, maxFeePerGas: 11n * 10n ** 9n }
    const cancelled = await answerTo(bound, call(11n, cancel), {
      proofKey: null,
      replaces: again.id,
    })
    expect(cancelled.answer).toBe('approved')
  })

  test('is not got round by another call at a nonce that was approved', async () => {
    const sent = payment(1_000n)
    const first = await answerTo(wallet, sent)
    const other = { ...sent, data: pays(ALICE, 1_001n), maxFeePerGas: 4_000_000_000n }
    const second = await answerTo(wallet, other, { replaces: first.id })
    expect([first.answer, second.answer]).toEqual(['approved', 'POLICY_DENIED'])
  })

  test('tells whoever has no proof of the key nothing', async () => {
    const { answer } = await answerTo(wallet, payment(1_001n), { proofKey: Buffer.alloc(32) })
    expect(answer).toBe('KEY_PROOF_MISSING')
  })

  test('binds no key whose grant has none', async () => {
    const free = await readyWallet(quorum, [8453])
    expect(await answerTo(free, payment(10n ** 30n))).toMatchObject({ answer: 'approved' })
  })
})

describe('the policy of a grant is taken', () => {
  const strict = { ...PAYROLL, rules: [] }
  const change = (wallet: ReadyWallet, update: Partial<GrantUpdate>): GrantUpdate =>
    newGrant(quorum, wallet.walletId, {
      keyId: wallet.keyId,
      proofKey: null,
      dailyLimitMicros: null,
      monthlyLimitMicros: null,
      ...update,
    })
  const put = (update: GrantUpdate) =>
    refusalOf(service.userSide.call('grant-put', grantPut(update, 0, null)))
  const unlimited = { dailyLimitMicros: null, monthlyLimitMicros: null }

  test('in its canonical form alone', async () => {
    const wallet = await readyWallet(quorum, [8453], unlimited)
    const update = change(wallet, { policy: policyOf(PAYROLL) })
    const parts = grantPut(update, 0, null)
    const at = parts.findIndex((part) => typeof part === 'string' && part.startsWith('{'))
    const text = String(parts[at])
    const others = [
      ` ${text}`,
      text.replace('"1000"', '"01000"'),
      text.replace('"deny"', '"refuse"'),
      text.replace(USDC, USDC.toUpperCase().replace('0X', '0x')),
      text.slice(0, -1),
      '{}',
      'null',
      '',
      `{"a":${'['.repeat(9_000)}`,
      { default: 'allow' },
    ]
    for (const other of others) {
      const forged = parts.map((part, place) => (place === at ? other : part))
      expect(await refusalOf(service.userSide.call('grant-put', forged))).toBe('MALFORMED')
    }
    expect(await refusalOf(service.userSide.call('grant-put', parts))).toBe('none')
  })

  test('without a proof where it is provably narrower, and else not', async () => {
    const wallet = await readyWallet(quorum, [8453], unlimited)
    expect(await put(change(wallet, { policy: policyOf(PAYROLL), consoleToken: null }))).toBe(
      'none',
    )
    for (const policy of [null, policyOf({ default: 'allow' })]) {
      expect(await put(change(wallet, { policy, consoleToken: null }))).toBe('NOT_GRANTED')
    }
    expect(await put(change(wallet, { policy: policyOf(strict), consoleToken: null }))).toBe('none')
    expect(await put(change(wallet, { policy: policyOf(PAYROLL), consoleToken: null }))).toBe(
      'NOT_GRANTED',
    )
    const { answer } = await answerTo(wallet, payment(1n), { grantVersion: 3 })
    expect(answer).toBe('POLICY_DENIED')
  })

  test('with the proof of an authorizer where it is wider', async () => {
    const wallet = await readyWallet(quorum, [8453], { ...unlimited, policy: policyOf(PAYROLL) })
    const passkeys = { rpId: WEBAUTHN.rp_id, origin: WEBAUTHN.origins[0] ?? '' }
    const client = await connectAuthorizers(quorum.home, USER, passkeys)
    await client.addKey()
    const wider = policyOf({ ...PAYROLL, default: 'allow' })
    // A console token is there; it is not enough.
    expect(await put(change(wallet, { policy: wider }))).toBe('NOT_CONFIRMED')
    expect(await put(change(wallet, { policy: null }))).toBe('NOT_CONFIRMED')
    expect(await put(change(wallet, { policy: policyOf(strict) }))).toBe('none')
  })
})

describe('an audit of the evidence', () => {
  const wallet: ReadyWallet = {
    walletId: newWalletId(),
    keyId: newKeyId(),
    address: ALICE,
    proofKey: Buffer.alloc(32, 1),
  }

  test('finds every approval within the policy of its grant', async () => {
    const { home } = quorum
    const places = { home, services: null, identity: null, registry: null, root: null }
    const { report } = await auditHome(places)
    expect(report.problems).toEqual([])
  })

  test('judges each by the policy that its version of the grant had', async () => {
    const { home } = quorum
    const [service, user] = [serviceLayout(home), userSideLayout(home)].map(({ evidence }) => {
      const log = openEvidenceReader(evidence)
      const read = readEvidence('log', log.entries())
      return { read, close: log.close() }
    })
    if (service === undefined || user === undefined) throw new Error('no logs')
    await Promise.all([service.close, user.close])
    const registry = openRegistry(
      readRegistryFile(registryPath(home)),
      readRootKey(serviceLayout(home).rootKey),
    )
    const strict = policyOf({ default: 'deny' })
    const grants = user.read.grants.map((grant) => {
      const { statement } = grant.value
      if (statement.policy === null) return grant
      return { ...grant, value: { ...grant.value, statement: { ...statement, policy: strict } } }
    })
    const forged = await verifyEvidence([service.read], { ...user.read, grants }, registry)
    const denied = forged.problems.filter((one) => one.includes('does not allow it: default'))
    const signedUnderPolicies = POLICY_CASES.flatMap(({ signs }) => signs).length
    expect(denied.length).toBeGreaterThanOrEqual(signedUnderPolicies)
  })

  test('names an approval that the policy of its grant does not allow', async () => {
    const atMs = Date.now()
    const approvals = [payment(1_000n), payment(1_001n)].map((payload, index) => ({
      id: `${index}`.repeat(32),
      atMs,
      intent: decodeIntent(intentFor(wallet, payload, 1, { index })),
      ...{ address: null, ownerHash: null, kind: 'user' as const },
    }))
    const bound = {
      policiesOf: () => [policyOf(PAYROLL)],
      approvalAt: () => null,
      approvalTerms: () => [],
      ancestorsOf: () => [],
    }
    const [problem, ...more] = deniedApprovals(approvals, bound)
    expect(problem).toContain('approval 1111111111111111')
    expect(more).toEqual([])
    expect(deniedApprovals(approvals, { ...bound, policiesOf: () => [] })).toEqual([])
  })

  test('names one without the proof of a key, unless it repeats what had one', () => {
    const bound = {
      policiesOf: () => [],
      approvalAt: () => null,
      approvalTerms: () => [],
      ancestorsOf: () => [],
    }
    const once = payment(1_000n)
    const approvals = [once, once, payment(1_001n)].map((payload, index) => ({
      id: `${index}`.repeat(32),
      atMs: Date.now() + index,
      intent: decodeIntent(intentFor(wallet, payload, 1, { index })),
      ...{ address: null, ownerHash: null, kind: 'user' as const },
    }))
    const [first, again, other] = approvals.map((one, index) =>
      index === 0 ? one : { ...one, intent: { ...one.intent, keyProof: Buffer.alloc(32) } },
    )
    if (first === undefined || again === undefined || other === undefined) throw new Error('three')
    expect(deniedApprovals([first, again], bound)).toEqual([])
    expect(deniedApprovals([again], bound)).toHaveLength(1)
    expect(deniedApprovals([again], bound, [first.intent])).toEqual([])
    expect(deniedApprovals([first, other], bound)).toEqual([
      expect.stringContaining('approval 2222222222222222: it has no proof of a key'),
    ])
    expect(deniedApprovals([{ ...other, kind: 'service' }], bound)).toEqual([])
  })

  test('counts what went before by the evidence', async () => {
    const ceiling = { chain_id: 8453, token: USDC, per: 'day', amount: '1500' }
    const policies = [policyOf({ ...PAYROLL, ceilings: [ceiling] })]
    const bound = {
      policiesOf: () => policies,
      approvalAt: () => null,
      approvalTerms: () => [],
      ancestorsOf: () => [],
    }
    const approvals = [payment(1_000n), payment(1_000n)].map((payload, index) => ({
      id: `${index}`.repeat(32),
      atMs: Date.now(),
      intent: decodeIntent(intentFor(wallet, payload, 1, { index })),
      ...{ address: null, ownerHash: null, kind: 'user' as const },
    }))
    expect(deniedApprovals(approvals.slice(0, 1), bound)).toEqual([])
    expect(deniedApprovals(approvals, bound)).toHaveLength(1)
  })
})
