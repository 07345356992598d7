import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { auditHome } from '../../src/custody-tools/maintenance/audit-home.js'
import { policyOf } from '../policy/random-policies.js'
import { withinOneUtcDay } from '../support/utc-day.js'
import { newGrant } from './grants.js'
import {
  DELEGATE,
  newKeyId,
  type Quorum,
  type ReadyWallet,
  ROUTER,
  readyWallet,
  requestOf,
  routerIntent,
  startQuorum,
  transfer,
} from './harness.js'
import { approve, becomeService, coSign, type HostileService, intentFor } from './hostile.js'
import { ALICE, call, pays, USDC } from './policy-cases.js'

/** What a policy counts, by the user side's own memory: the service's is out of the way. */
let quorum: Quorum
let service: HostileService
let nextSeq: number
let nonce = 0

beforeAll(async () => {
  await withinOneUtcDay(5)
  quorum = await startQuorum()
  await meetAgain()
})
afterAll(async () => {
  await service?.close()
  await quorum?.close()
})

async function meetAgain() {
  service = await becomeService(quorum)
  nextSeq = await service.nextSeq()
}

/** The user side ends without a chance to write anything more, and starts again. */
async function crashUserSide() {
  await quorum.identityProvider.kill()
  await service.close()
  await quorum.coSigner.close()
  quorum.identityProvider = await quorum.startIdentityProvider()
  await quorum.connect()
  await meetAgain()
}

type Payload = ReturnType<typeof transfer>
type Change = Parameters<typeof intentFor>[3]

async function answersTo(wallet: ReadyWallet, payloads: readonly Payload[], change: Change = {}) {
  const seq = nextSeq++
  const intents = payloads.map((payload, index) =>
    intentFor(wallet, payload, seq, { index, ...change }),
  )
  const batch = await coSign(service.signer, seq, intents)
  const { answers } = await approve(service, batch)
  return { answers: answers.map((answer) => answer ?? 'approved'), ids: batch.ids }
}

async function answerTo(wallet: ReadyWallet, payload: Payload, change: Change = {}) {
  const { answers, ids } = await answersTo(wallet, [payload], change)
  return { answer: answers[0] ?? 'none', id: ids[0] ?? Buffer.alloc(32) }
}

function payment(amount: bigint, change: Parameters<typeof transfer>[1] = {}): Payload {
  return transfer(nonce++, {
    ...{ to: USDC, value: 0n, data: pays(ALICE, amount), gasLimit: 100_000n },
    ...change,
  })
}

function payments(count: number, amount = 1n): Payload[] {
  return Array.from({ length: count }, () => payment(amount))
}

const approvedOf = (answers: readonly string[]) =>
  answers.filter((answer) => answer === 'approved').length

const THREE_AN_HOUR = {
  default: 'allow',
  rules: [{ name: 'few', effect: 'deny', when: { count: { per_seconds: 3_600, gt: 3 } } }],
}

function ceiling(amount: string, change: Readonly<Record<string, unknown>> = {}) {
  return { chain_id: 8453, token: USDC, per: 'day', amount, ...change }
}

function walletUnder(policy: unknown): Promise<ReadyWallet> {
  return readyWallet(quorum, [1, 8453], { policy: policyOf(policy) })
}

describe('of so many calls an hour the user side approves', () => {
  test('no more, in one batch', async () => {
    const wallet = await walletUnder(THREE_AN_HOUR)
    const { answers } = await answersTo(wallet, payments(32))
    expect(answers.slice(0, 3)).toEqual(['approved', 'approved', 'approved'])
    expect(approvedOf(answers)).toBe(3)
    expect(new Set(answers.slice(3))).toEqual(new Set(['POLICY_DENIED']))
  })

  test('no more, in batches that race', async () => {
    const wallet = await walletUnder(THREE_AN_HOUR)
    const batches = Array.from({ length: 6 }, () => answersTo(wallet, payments(2)))
    const answers = (await Promise.all(batches)).flatMap((one) => one.answers)
    expect(approvedOf(answers)).toBe(3)
  })

  test('Router intents as well as transactions, and no delegation is one', async () => {
    const wallet = await walletUnder(THREE_AN_HOUR)
    const delegation = {
      type: 'authorization',
      chainId: 8453,
      nonce: 0,
      delegate: DELEGATE,
    } as const
    const swap = {
      type: 'router-intent',
      chainId: 8453,
      verifyingContract: ROUTER,
      intent: routerIntent(wallet.address),
    } as const
    const seq = nextSeq++
    const payloads = [
      delegation,
      swap,
      ...payments(2),
      { ...swap, intent: { ...swap.intent, nonce: 8n } },
    ]
    const intents = payloads.map((payload, index) => intentFor(wallet, payload, seq, { index }))
    const { answers } = await approve(service, await coSign(service.signer, seq, intents))
    expect(answers).toEqual([null, null, null, null, 'POLICY_DENIED'])
  })

  test('each once, however often it is signed again, made dearer or cancelled', async () => {
    const wallet = await walletUnder(THREE_AN_HOUR)
    const sent = payment(1n)
    const first = await answerTo(wallet, sent)
    const again = await answerTo(wallet, sent)
    const dearer = { ...sent, maxFeePerGas: 4_000_000_000n, maxPriorityFeePerGas: 2_000_000_000n }
    const bump = await answerTo(wallet, dearer, { replaces: again.id })
    const cancel = transfer(sent.nonce, { to: wallet.address, value: 0n })
    const ended = await answerTo(wallet, cancel, { replaces: bump.id })
    expect([first, again, bump, ended].map(({ answer }) => answer)).toEqual(
      Array.from({ length: 4 }, () => 'approved'),
    )
    const { answers } = await answersTo(wallet, payments(3))
    expect(answers).toEqual(['approved', 'approved', 'POLICY_DENIED'])
  })

  test('no more after a crash, whether they were in its ledger or in its evidence alone', async () => {
    const wallet = await walletUnder(THREE_AN_HOUR)
    expect((await answersTo(wallet, payments(1))).answers).toEqual(['approved'])
    // A grant is on disk before it is answered, and with it all that was decided before.
    const other = await walletUnder(THREE_AN_HOUR)
    expect((await answersTo(wallet, payments(1))).answers).toEqual(['approved'])
    expect((await answersTo(other, payments(3))).answers).toHaveLength(3)
    await crashUserSide()
    expect((await answersTo(wallet, payments(2))).answers).toEqual(['approved', 'POLICY_DENIED'])
    expect((await answersTo(other, payments(1))).answers).toEqual(['POLICY_DENIED'])
  })

  test('no more by a key that takes the place of another', async () => {
    const wallet = await walletUnder(THREE_AN_HOUR)
    expect((await answersTo(wallet, payments(2))).answers).toEqual(['approved', 'approved'])
    const successor = { ...wallet, keyId: newKeyId(), proofKey: randomBytes(32) }
    await quorum.coSigner.putGrant(
      newGrant(quorum, wallet.walletId, {
        ...{ keyId: successor.keyId, proofKey: successor.proofKey, rotatedFrom: wallet.keyId },
        ...{ dailyLimitMicros: null, monthlyLimitMicros: null, effect: 'narrows' },
        policy: policyOf(THREE_AN_HOUR),
      }),
    )
    const outcomes = []
    for (const one of payments(2))
      outcomes.push(await quorum.coSigner.sign(requestOf(successor, one)))
    expect(outcomes).toMatchObject([{ ok: true }, { ok: false, detail: 'POLICY_DENIED' }])
    expect(await quorum.coSigner.sign(requestOf(wallet, payment(1n)))).toMatchObject({
      detail: 'POLICY_DENIED',
      denial: { rule: 'few', field: 'count', retryAt: expect.stringMatching(/Z$/) },
    })
  })
})

describe('below a ceiling in units the user side approves', () => {
  test('what is left of it, and not one unit more', async () => {
    const wallet = await walletUnder({ default: 'allow', ceilings: [ceiling('1000')] })
    const amounts = [600n, 401n, 400n, 1n]
    const { answers } = await answersTo(
      wallet,
      amounts.map((amount) => payment(amount)),
    )
    expect(answers).toEqual(['approved', 'POLICY_DENIED', 'approved', 'POLICY_DENIED'])
    const ceilingOf = { rule: 'ceilings', field: `${USDC} on chain 8453 a day`, permitted: '1000' }
    const later = await quorum.coSigner.sign(requestOf(wallet, payment(1n)))
    const midnight = expect.stringMatching(/T00:00:00.000Z$/)
    expect(later).toMatchObject({ denial: { ...ceilingOf, observed: '1001', retryAt: midnight } })
    const never = await quorum.coSigner.sign(requestOf(wallet, payment(1_001n)))
    expect(never).toMatchObject({ denial: { ...ceilingOf, observed: '2001', retryAt: null } })
  })

  test('no approval, permit or transfer beyond it, and nothing that cannot be read', async () => {
    const wallet = await walletUnder({ default: 'allow', ceilings: [ceiling('1000')] })
    const calls = [
      call('approve', [ALICE, 1_001n]),
      call('increaseAllowance', [ALICE, 2n ** 256n - 1n]),
      call('transferFrom', [wallet.address, ALICE, 1_001n]),
      call('multicall', [[pays(ALICE, 1n)]]),
      call('setOwner', [ALICE]),
      `${pays(ALICE, 1n)}00` as const,
      call('approve', [ALICE, 999n]),
      pays(ALICE, 2n),
      pays(ALICE, 1n),
    ]
    const { answers } = await answersTo(
      wallet,
      calls.map((data) => payment(0n, { data })),
    )
    expect(answers.slice(0, 6)).toEqual(Array.from({ length: 6 }, () => 'POLICY_DENIED'))
    expect(answers.slice(6)).toEqual(['approved', 'POLICY_DENIED', 'approved'])
  })

  test('each chain and token by itself', async () => {
    const wallet = await walletUnder({
      default: 'allow',
      ceilings: [ceiling('1000'), ceiling('50', { token: 'native', per: 'month' })],
    })
    // Without a fee, so that gas takes nothing of the native one.
    const free = { maxFeePerGas: 0n, maxPriorityFeePerGas: 0n }
    const { answers } = await answersTo(wallet, [
      payment(1_000n, free),
      payment(1_000n, { ...free, chainId: 1 }),
      transfer(nonce++, { ...free, to: ALICE, value: 50n }),
      transfer(nonce++, { ...free, to: ALICE, value: 1n }),
      transfer(nonce++, { to: ALICE, value: 1n, chainId: 1 }),
      payment(0n, { ...free, value: 1n }),
    ])
    expect(answers).toEqual([
      ...['approved', 'approved', 'approved', 'POLICY_DENIED', 'approved', 'POLICY_DENIED'],
    ])
  })

  test('no more in Router intents', async () => {
    const wallet = await walletUnder({ default: 'allow', ceilings: [ceiling('1000')] })
    const swap = (amountIn: bigint, at: bigint) =>
      ({
        type: 'router-intent',
        chainId: 8453,
        verifyingContract: ROUTER,
        intent: { ...routerIntent(wallet.address), tokenIn: USDC, amountIn, nonce: at },
      }) as const
    const seq = nextSeq++
    const intents = [swap(600n, 1n), swap(401n, 2n), swap(400n, 3n)].map((payload, index) =>
      intentFor(wallet, payload, seq, { index }),
    )
    const { answers } = await approve(service, await coSign(service.signer, seq, intents))
    expect(answers).toEqual([null, 'POLICY_DENIED', null])
  })

  test('no more after a crash, and none less for what was refused', async () => {
    const wallet = await walletUnder({ default: 'allow', ceilings: [ceiling('1000')] })
    const { answers } = await answersTo(wallet, [payment(600n), payment(500n)])
    expect(answers).toEqual(['approved', 'POLICY_DENIED'])
    await crashUserSide()
    const after = await answersTo(wallet, [payment(401n), payment(400n), payment(1n)])
    expect(after.answers).toEqual(['POLICY_DENIED', 'approved', 'POLICY_DENIED'])
  })

  test('what a lower one leaves, once it was lowered', async () => {
    const wallet = await walletUnder({ default: 'allow', ceilings: [ceiling('1000')] })
    expect((await answersTo(wallet, [payment(300n)])).answers).toEqual(['approved'])
    await quorum.coSigner.putGrant(
      newGrant(quorum, wallet.walletId, {
        ...{ keyId: wallet.keyId, proofKey: null, effect: 'narrows', allowedChains: [1, 8453] },
        ...{ dailyLimitMicros: null, monthlyLimitMicros: null, consoleToken: null },
        policy: policyOf({ default: 'allow', ceilings: [ceiling('400')] }),
      }),
    )
    const { answers } = await answersTo(wallet, [payment(101n), payment(100n)], { grantVersion: 2 })
    expect(answers).toEqual(['POLICY_DENIED', 'approved'])
  })
})

test('the audit comes to the same counts from the evidence', async () => {
  const places = { services: null, identity: null, registry: null, root: null }
  const { report } = await auditHome({ home: quorum.home, ...places })
  expect(report.problems.filter((problem) => problem.includes('policy'))).toEqual([])
})
