import { hash } from 'node:crypto'
import type { SignOutcome } from '../../../src/custody/co-signer.js'
import type { Hex, SubWalletId } from '../../../src/domain/ids.js'
import { fault } from '../../../src/errors/fault.js'
import type { Command, Effect } from '../core/messages.js'
import type { SubWalletPorts } from '../ports.js'

/** Step 4 of the lifecycle: both domains approve, the quorum signer joins and signs. */
export function sign(
  { coSigner, nowMs, log }: SubWalletPorts,
  walletId: SubWalletId,
  { draft, nonce, replaces }: Extract<Effect, { type: 'sign' }>,
  self: (command: Command) => void,
): void {
  const { txId } = draft
  const payload = {
    type: 'transaction',
    chainId: draft.chainId,
    nonce,
    to: draft.to,
    value: draft.value,
    data: draft.data,
    gasLimit: draft.gasLimit,
    maxFeePerGas: draft.maxFeePerGas,
    maxPriorityFeePerGas: draft.maxPriorityFeePerGas,
  } as const
  coSigner
    .sign({
      walletId,
      keyId: draft.keyId,
      requestId: requestIdBytes(draft.requestId),
      proofKey: draft.proofKey,
      replaces: replaces === null ? null : Buffer.from(replaces.slice(2), 'hex'),
      payload,
    })
    .then(
      (outcome) => self(outcomeCommand(outcome, txId, nonce, nowMs())),
      (error: unknown) => {
        log.warn({ err: error, txId }, 'signing failed')
        self(failed(txId, nonce, nowMs()))
      },
    )
}

/** What a signature, or its refusal, means to the lane. */
export function outcomeCommand(
  outcome: SignOutcome,
  txId: Extract<Effect, { type: 'sign' }>['draft']['txId'],
  nonce: number,
  nowMs: number,
): Command {
  if (outcome.ok) {
    const { txHash, rawTransaction, intentId } = outcome
    if (txHash === undefined || rawTransaction === undefined) return failed(txId, nonce, nowMs)
    const signed = { txHash, rawTransaction, intentId: toHex(intentId), signedAtMs: nowMs }
    return { type: 'signed', txId, nonce, signed, nowMs }
  }
  if (outcome.reason === 'NONCE_TAKEN' && outcome.takenBy !== undefined) {
    return { type: 'nonce-taken', txId, nonce, takenBy: toHex(outcome.takenBy), nowMs }
  }
  if (outcome.reason === 'REFUSED') {
    const refusal = fault(
      'PERMISSION_DENIED',
      {},
      'The identity provider does not grant this key that call; nothing was signed.',
    )
    return { type: 'sign-failed', txId, nonce, fault: refusal, nowMs }
  }
  return failed(txId, nonce, nowMs, outcome.explanation)
}

function failed(
  txId: Extract<Effect, { type: 'sign' }>['draft']['txId'],
  nonce: number,
  nowMs: number,
  explanation?: string,
): Command {
  const unavailable = fault('COSIGNER_UNAVAILABLE', {}, explanation)
  return { type: 'sign-failed', txId, nonce, fault: unavailable, nowMs }
}

export function toHex(bytes: Uint8Array): Hex {
  const { buffer, byteOffset, byteLength } = bytes
  return `0x${Buffer.from(buffer, byteOffset, byteLength).toString('hex')}`
}

/** 16 bytes that stand for the caller's request id in both domains' evidence. */
export function requestIdBytes(requestId: string): Uint8Array {
  return Buffer.from(hash('sha256', requestId, 'binary').slice(0, 16), 'latin1')
}
