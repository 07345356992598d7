import { describe, expect, test } from 'vitest'
import {
  type ApprovalTerm,
  approvalKeyProof,
  approvalTermMessage,
  encodeApprovalTerm,
  readApprovalTerm,
} from '../../src/custody/approvals/approval-term.js'
import { readConfirmable } from '../../src/custody/authorizers/confirmable.js'
import type { ApprovalId } from '../../src/domain/ids.js'
import { decodeIntent, intentId, keyProofOver } from '../../src/quorum-protocol/intent.js'
import type { RouterIntentPayload } from '../../src/quorum-protocol/sign-payload.js'
import { callTerm, intentTerm } from './approval-terms.js'
import { newKeyId, newWalletId, ROUTER, routerIntent, STRANGER, transfer } from './harness.js'
import { intentFor } from './hostile.js'

const ASKED = {
  approvalId: newWalletId().replace('sw_', 'apr_') as ApprovalId,
  walletId: newWalletId(),
  keyId: newKeyId(),
  userId: 'ada',
  maxNativeWei: 10n ** 15n,
  expiresAtMs: 1_800_000_000_000,
}
const CALL = { chainId: 8453, to: STRANGER, value: 7n, data: '0x1234' } as const
const TERM = callTerm(ASKED, CALL)
const PROOF_KEY = Buffer.alloc(32, 7)

function intentOf(change: object): RouterIntentPayload {
  const intent = { ...routerIntent(STRANGER), ...change }
  return { type: 'router-intent', chainId: 8453, verifyingContract: ROUTER, intent }
}

describe('the term of an approval', () => {
  test('is read as it was written, and by nothing else', () => {
    const encoded = encodeApprovalTerm(TERM)
    const { statement, rest } = readApprovalTerm(Buffer.concat([encoded, Buffer.of(1)]))
    expect(encodeApprovalTerm(statement)).toEqual(encoded)
    expect([...rest]).toEqual([1])
    expect(readConfirmable(encoded)).toMatchObject({
      kind: 'approval',
      confirmBeforeMs: ASKED.expiresAtMs,
    })
    for (const bytes of [encoded.subarray(1), encoded.subarray(0, -1), Buffer.of()]) {
      expect(() => readApprovalTerm(bytes)).toThrow('MALFORMED')
    }
  })

  test('differs in each thing that it says', () => {
    const others: Partial<ApprovalTerm>[] = [
      { kind: 'intent' },
      { approvalId: Buffer.alloc(16, 1) },
      { walletId: Buffer.alloc(16, 1) },
      { keyId: Buffer.alloc(16, 1) },
      { ownerHash: Buffer.alloc(32, 1) },
      { chainId: 1 },
      { to: Buffer.alloc(20, 1) },
      { value: 8n },
      { hash: Buffer.alloc(32, 1) },
      { maxNativeWei: 1n },
      { expiresAtMs: 1 },
    ]
    const messages = [TERM, ...others.map((other) => ({ ...TERM, ...other }))].map((term) =>
      approvalTermMessage(encodeApprovalTerm(term)).toString('hex'),
    )
    expect(new Set(messages).size).toBe(others.length + 1)
  })

  test('of a Router intent holds for each attempt at it, and for no other terms', () => {
    const [first, again, worse] = [
      intentOf({ nonce: 1n }),
      intentOf({ nonce: 2n, deadline: 1_800_000_000 }),
      intentOf({ minOut: 2n }),
    ].map((payload) => Buffer.from(intentTerm(ASKED, payload).term.hash).toString('hex'))
    expect(again).toBe(first)
    expect(worse).not.toBe(first)
  })
})

describe('that the live key asked for a call', () => {
  const data = Buffer.from('1234', 'hex')

  test('still shows when a person is asked again with other gas and expiry', () => {
    const proof = approvalKeyProof(PROOF_KEY, TERM, data)
    const again = { ...TERM, maxNativeWei: 1n, expiresAtMs: 1 }
    expect(approvalKeyProof(PROOF_KEY, again, data)).toEqual(proof)
    expect(approvalKeyProof(PROOF_KEY, { ...TERM, value: 8n }, data)).not.toEqual(proof)
    expect(approvalKeyProof(Buffer.alloc(32, 8), TERM, data)).not.toEqual(proof)
  })

  test('of a Router intent still shows at another price, and for no other input', () => {
    const proofOf = (change: object) => {
      const { term, call } = intentTerm(ASKED, intentOf(change))
      return approvalKeyProof(PROOF_KEY, term, call)
    }
    const proof = proofOf({})
    expect(proofOf({ minOut: 2n, data: '0x9999' })).toEqual(proof)
    for (const change of [
      ...[{ amountIn: 6n }, { feeBps: 31 }, { tokenIn: ROUTER }, { tokenOut: ROUTER }],
      ...[{ target: ROUTER }, { account: ROUTER }],
    ]) {
      expect(proofOf(change), JSON.stringify(Object.keys(change))).not.toEqual(proof)
    }
  })
})

describe('an intent that rests on an approval', () => {
  const wallet = {
    walletId: ASKED.walletId,
    keyId: ASKED.keyId,
    address: STRANGER,
    proofKey: PROOF_KEY,
  }
  const { approvalId, expiresAtMs, maxNativeWei } = TERM
  const approval = { approvalId, expiresAtMs, maxNativeWei }

  test('says so in its bytes, under its id and the key’s proof', () => {
    const encoded = intentFor(wallet, transfer(0), 1, { approval })
    const intent = decodeIntent(encoded)
    expect(intent.approval).toEqual({ ...approval, approvalId: Buffer.from(approvalId) })
    expect(keyProofOver(PROOF_KEY, encoded)).toEqual(Buffer.from(intent.keyProof))
    const other = Buffer.from(encoded)
    other[other.length - intent.payload.length - 1] = 1
    expect(intentId(other)).not.toEqual(intentId(encoded))
    expect(keyProofOver(PROOF_KEY, other)).not.toEqual(Buffer.from(intent.keyProof))
  })

  test('costs one without an approval no byte', () => {
    const plain = intentFor(wallet, transfer(0), 1)
    expect(plain.subarray(0, 4).toString('latin1')).toBe('AWI1')
    const { payload } = decodeIntent(plain)
    expect(plain.length - payload.length).toBe(4 + 1 + 48 + 4 + 4 + 8 + 8 + 16 + 32 + 32)
  })
})
