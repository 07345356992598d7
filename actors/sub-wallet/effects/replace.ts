import { randomBytes } from 'node:crypto'
import { bump } from '../../../src/chains/fees.js'
import type { SignedAuthorization } from '../../../src/custody/co-signer.js'
import type { KeyId } from '../../../src/domain/ids.js'
import type { Transaction } from '../../../src/domain/transaction.js'
import type { Command } from '../messages.js'
import type { SubWalletPorts } from '../ports.js'

export interface Replaced {
  readonly tx: Transaction
  /** Null for the service's own wallets. */
  readonly keyId: KeyId | null
  readonly authorization: SignedAuthorization | null
}

/** Asks for the same call at the same nonce with higher fees. No live key stands behind it. */
export function replace(
  { chains, coSigner, nowMs, log }: Pick<SubWalletPorts, 'chains' | 'coSigner' | 'nowMs' | 'log'>,
  { tx, keyId, authorization }: Replaced,
  self: (command: Command) => void,
): void {
  const { txId } = tx
  const newest = tx.attempts.at(-1)
  if (newest === undefined) throw new Error(`${txId} has nothing to replace`)
  const chain = chains.get(tx.chainId)
  const current = chain?.fees.latest()?.fees
  const ceilingWei = BigInt(chain?.config.max_fee_per_gas_ceiling_wei ?? 0)
  const fees = current === undefined ? null : bump(newest, current, ceilingWei)
  if (fees === null) {
    self({ type: 'replacement-failed', txId })
    return
  }
  coSigner
    .sign({
      walletId: tx.subWalletId,
      keyId,
      requestId: randomBytes(16),
      proofKey: null,
      replaces: Buffer.from(newest.intentId.slice(2), 'hex'),
      payload: {
        type: 'transaction',
        chainId: tx.chainId,
        nonce: tx.nonce,
        to: tx.to,
        value: tx.value,
        data: tx.data,
        gasLimit: tx.gasLimit,
        ...fees,
        ...(authorization === null ? {} : { authorizationList: [authorization] }),
      },
    })
    .then(
      (outcome) => {
        if (!outcome.ok || outcome.txHash === undefined || outcome.rawTransaction === undefined) {
          self({ type: 'replacement-failed', txId })
          return
        }
        const { txHash, rawTransaction } = outcome
        const intentId = `0x${Buffer.from(outcome.intentId).toString('hex')}` as const
        const signed = { txHash, rawTransaction, intentId, signedAtMs: nowMs() }
        self({ type: 'replacement-signed', txId, fees, signed, nowMs: nowMs() })
      },
      (error: unknown) => {
        log.warn({ err: error, txId }, 'a replacement could not be signed')
        self({ type: 'replacement-failed', txId })
      },
    )
}
