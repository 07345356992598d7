import type { Command } from '../../actors/sub-wallet/core/messages.js'
import type { Hex, TxId } from '../../src/domain/ids.js'
import { fault } from '../../src/errors/fault.js'

interface Approval {
  readonly txId: TxId
  readonly intentId: Hex
}

/**
 * The identity provider's ledger of approved nonces, and the quorum behind it: an approval at a
 * nonce that is approved already must name the one it replaces. Approvals outlive the service.
 */
export class QuorumModel {
  readonly #approved = new Map<number, Approval>()
  #count = 0

  /** @param choice 0, 1: signed; 2: approved and then lost; 3: refused before any approval */
  sign(
    txId: TxId,
    nonce: number,
    replaces: Hex | null,
    choice: number,
    nowMs: number,
  ): Extract<Command, { type: 'signed' | 'sign-failed' | 'nonce-taken' }> {
    const failed = {
      type: 'sign-failed',
      txId,
      nonce,
      fault: fault('COSIGNER_UNAVAILABLE'),
      nowMs,
    } as const
    if (choice % 4 === 3) return failed
    const held = this.#approved.get(nonce)
    if (held !== undefined && held.intentId !== replaces) {
      return { type: 'nonce-taken', txId, nonce, takenBy: held.intentId, nowMs }
    }
    const signed = this.#approve(txId, nonce, nowMs)
    return choice % 4 === 2 ? failed : { type: 'signed', txId, nonce, signed, nowMs }
  }

  /** The same call with higher fees. */
  resign(
    txId: TxId,
    nonce: number,
    replaces: Hex,
    feesWei: bigint,
    choice: number,
    nowMs: number,
  ): Extract<Command, { type: 'replacement-signed' | 'replacement-failed' }> {
    if (choice % 3 === 2 || this.#approved.get(nonce)?.intentId !== replaces) {
      return { type: 'replacement-failed', txId }
    }
    const signed = this.#approve(txId, nonce, nowMs)
    const fees = { maxFeePerGas: feesWei, maxPriorityFeePerGas: feesWei }
    return { type: 'replacement-signed', txId, nonce, purpose: 'bump', fees, signed, nowMs }
  }

  #approve(txId: TxId, nonce: number, nowMs: number) {
    this.#count++
    const digits = this.#count.toString(16).padStart(63, '0')
    const txHash: Hex = `0xa${digits}`
    const intentId: Hex = `0xc${digits}`
    this.#approved.set(nonce, { txId, intentId })
    return { txHash, rawTransaction: txHash, intentId, signedAtMs: nowMs }
  }
}
