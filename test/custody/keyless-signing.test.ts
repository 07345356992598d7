import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { auditHome } from '../../src/custody-tools/maintenance/audit-home.js'
import { grantedOf } from '../../src/domain/grant-terms.js'
import { INITIAL_POLICY } from '../../src/domain/key-policy.js'
import type { SignOutcome, SignRequest } from '../../src/service-custody/co-signer.js'
import { policyOf } from '../policy/random-policies.js'
import {
  DELEGATE,
  type Quorum,
  READY_MS,
  type ReadyWallet,
  ROUTER,
  readyWallet,
  requestOf,
  routerIntent,
  STRANGER,
  signed,
  startQuorum,
  transfer,
} from './harness.js'

/** What a service that holds no key gets signed, over the real processes. */
const GWEI = 1_000_000_000n
let quorum: Quorum

beforeAll(async () => {
  quorum = await startQuorum()
})
afterAll(() => quorum?.close())

type Change = Parameters<typeof transfer>[1]

function alone(wallet: ReadyWallet, nonce: number, change: Change = {}, more = {}): SignRequest {
  const self = { to: wallet.address, value: 0n, ...change }
  return requestOf(wallet, transfer(nonce, self), { proofKey: null, ...more })
}

const said = (outcome: SignOutcome) => (outcome.ok ? 'signed' : (outcome.detail ?? outcome.reason))

async function ask(request: SignRequest): Promise<string> {
  return said(await quorum.coSigner.sign(request))
}

async function revoke(wallet: ReadyWallet): Promise<void> {
  await quorum.coSigner.putGrant({
    ...grantedOf(INITIAL_POLICY),
    ...{ keyId: wallet.keyId, rotatedFrom: null, walletId: wallet.walletId },
    ...{ userId: quorum.userId, permission: 'trade', allowedChains: [1, 8453], proofKey: null },
    ...{
      expiresAt: null,
      revoked: true,
      consoleToken: null,
      effect: 'narrows',
      authorization: null,
    },
  })
}

describe('a wallet whose only key is revoked', () => {
  test('signs nothing where no key ever asked for anything', async () => {
    const wallet = await readyWallet(quorum)
    await revoke(wallet)
    for (const nonce of [0, 1, 2, 100, 2 ** 32]) {
      expect(await ask(alone(wallet, nonce))).toBe('PAYLOAD_NOT_ALLOWED')
    }
  })

  test('signs two cancels above the last call of a key, at its fee, however often the service asks', async () => {
    const wallet = await readyWallet(quorum)
    const sent = await signed(quorum, requestOf(wallet, transfer(0)))
    await revoke(wallet)
    const dearer = { maxFeePerGas: 400n * GWEI, maxPriorityFeePerGas: 400n * GWEI }
    // The service raises the call's own fee, which may be pending: that pays for nothing beside it.
    const raised = requestOf(wallet, transfer(0, dearer), {
      ...{ proofKey: null, replaces: sent.intentId },
    })
    expect(await ask(raised)).toBe('signed')
    const answers: string[] = []
    for (let nonce = 1; nonce < 9; nonce++) {
      answers.push(await ask(alone(wallet, nonce, dearer)), await ask(alone(wallet, nonce)))
    }
    expect(answers.filter((answer) => answer === 'signed')).toHaveLength(2)
    expect(answers.slice(0, 4)).toEqual([
      ...['PAYLOAD_NOT_ALLOWED', 'signed'],
      ...['PAYLOAD_NOT_ALLOWED', 'signed'],
    ])
  })

  const paths: Readonly<Record<string, (wallet: ReadyWallet) => SignRequest['payload']>> = {
    'a transfer': () => transfer(1, { to: STRANGER }),
    'a cancel with value': ({ address }) => transfer(1, { to: address, value: 1n }),
    'a cancel with data': ({ address }) => transfer(1, { to: address, value: 0n, data: '0x00' }),
    'a cancel with more gas': ({ address }) =>
      transfer(1, { to: address, value: 0n, gasLimit: 21_001n }),
    'a cancel with a hundred thousand gas': ({ address }) =>
      transfer(1, { to: address, value: 0n, gasLimit: 100_000n }),
    'a cancel of type 4': ({ address }) =>
      transfer(1, {
        ...{ to: address, value: 0n },
        authorizationList: [
          {
            ...{ chainId: 8453, address: DELEGATE, nonce: 2, yParity: 0 },
            ...{ r: `0x${'11'.repeat(32)}`, s: `0x${'11'.repeat(32)}` },
          },
        ],
      }),
    'a delegation': () => ({ type: 'authorization', chainId: 8453, nonce: 1, delegate: DELEGATE }),
    'a Router intent': ({ address }) => ({
      ...{ type: 'router-intent', chainId: 8453, verifyingContract: ROUTER },
      intent: routerIntent(address),
    }),
  }

  test.each(Object.keys(paths))('signs no %s', async (what) => {
    const wallet = await readyWallet(quorum)
    await signed(quorum, requestOf(wallet, transfer(0)))
    await revoke(wallet)
    const payload = paths[what]?.(wallet) ?? transfer(1)
    for (const keyId of [wallet.keyId, null]) {
      const outcome = await quorum.coSigner.sign(
        requestOf(wallet, payload, { proofKey: null, keyId }),
      )
      expect(outcome.ok).toBe(false)
    }
  })

  test('lets its lane go on: the hole below a call is closed, and the call is cancelled', async () => {
    const wallet = await readyWallet(quorum)
    const above = await signed(quorum, requestOf(wallet, transfer(2)))
    await revoke(wallet)
    const filled = await signed(quorum, alone(wallet, 0))
    await signed(quorum, alone(wallet, 1))
    const bumped = { maxFeePerGas: 2_250_000_000n }
    await signed(quorum, alone(wallet, 0, bumped, { replaces: filled.intentId }))
    await signed(quorum, alone(wallet, 2, bumped, { replaces: above.intentId }))
    const again = { maxFeePerGas: 9n * GWEI }
    expect(await ask(alone(wallet, 0, again, { replaces: filled.intentId }))).toBe('NONCE_TAKEN')
  })
})

test('what was signed without a key is counted over a restart of the user side, and named by the audit', async () => {
  const wallet = await readyWallet(quorum)
  await signed(quorum, requestOf(wallet, transfer(4)))
  await signed(quorum, alone(wallet, 3))
  await quorum.identityProvider.kill()
  quorum.identityProvider = await quorum.startIdentityProvider()
  expect(await quorum.coSigner.whenReady(READY_MS)).toBe(true)
  // The keyless one gives no further nonces after the restart, either.
  expect(await ask(alone(wallet, 7))).toBe('PAYLOAD_NOT_ALLOWED')
  const forged = { proofKey: Buffer.alloc(32, 7), replaces: null }
  expect(await ask(requestOf(wallet, transfer(5, { to: wallet.address, value: 0n }), forged))).toBe(
    'KEY_PROOF_MISSING',
  )
  const { report } = await auditHome({
    ...{ home: quorum.home, services: null, identity: null, registry: null, root: null },
  })
  expect(report.problems).toEqual([])
  const own = report.keyless.filter(
    ({ address }) => `0x${Buffer.from(address).toString('hex')}` === wallet.address.toLowerCase(),
  )
  expect(own).toMatchObject([{ chainId: 8453, nonce: 3, what: 'cancel' }])
})

describe('a ceiling of native coin', () => {
  test('counts gas at worst beside the value', async () => {
    const gasWei = 21_000n * 2n * GWEI
    const amount = String(2n * gasWei + 1_000n)
    const ceilings = [{ chain_id: 8453, token: 'native', per: 'month', amount }]
    const policy = policyOf({ default: 'allow', ceilings })
    const wallet = await readyWallet(quorum, [1, 8453], { policy })
    expect(await ask(requestOf(wallet, transfer(0, { value: 1_000n })))).toBe('signed')
    expect(await ask(requestOf(wallet, transfer(1, { value: 1n })))).toBe('POLICY_DENIED')
    expect(await ask(requestOf(wallet, transfer(1, { value: 0n, gasLimit: 21_001n })))).toBe(
      'POLICY_DENIED',
    )
    expect(await ask(requestOf(wallet, transfer(1, { value: 0n })))).toBe('signed')
    // Another chain has its own coin.
    expect(await ask(requestOf(wallet, transfer(0, { chainId: 1 })))).toBe('signed')
  })

  test('nothing is signed for more gas than the registry pins', async () => {
    const wallet = await readyWallet(quorum)
    const above = transfer(0, { gasLimit: 16_777_217n })
    expect(await ask(requestOf(wallet, above))).toBe('PAYLOAD_NOT_ALLOWED')
    expect(await ask(requestOf(wallet, transfer(0, { gasLimit: 16_777_216n })))).toBe('signed')
  })
})
