import { randomBytes } from 'node:crypto'
import type { Command, Effect } from '../messages.js'
import type { SubWalletPorts } from '../ports.js'

/** Asks for the same call at the same nonce with higher fees. No live key stands behind it. */
export function replace(
  { coSigner, nowMs, log }: SubWalletPorts,
  { tx, fees }: Extract<Effect, { type: 'replace' }>,
  self: (command: Command) => void,
): void {
  const { txId } = tx
  const newest = tx.attempts.at(-1)
  if (newest === undefined) throw new Error(`${txId} has nothing to replace`)
  coSigner
    .sign({
      walletId: tx.subWalletId,
      keyId: tx.keyId,
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
