import { fault } from '../../../src/errors/fault.js'
import { outcomeCommand, requestIdBytes } from '../../sub-wallet/effects/sign.js'
import type { GasWalletCommand, GasWalletEffect } from '../core/messages.js'
import type { GasWalletPorts } from '../ports.js'

/** Signs under the service grant: calls of the Router, with or without an authorization. */
export function signJob(
  { coSigner, nowMs, log }: GasWalletPorts,
  effect: Extract<GasWalletEffect, { type: 'sign-job' }>,
  self: (command: GasWalletCommand) => void,
): void {
  const { walletId, draft, nonce, replaces, authorization } = effect
  const { txId } = draft
  coSigner
    .sign({
      walletId,
      keyId: null,
      requestId: requestIdBytes(draft.requestId),
      proofKey: null,
      replaces: replaces === null ? null : Buffer.from(replaces.slice(2), 'hex'),
      payload: {
        type: 'transaction',
        chainId: draft.chainId,
        nonce,
        to: draft.to,
        value: draft.value,
        data: draft.data,
        gasLimit: draft.gasLimit,
        maxFeePerGas: draft.maxFeePerGas,
        maxPriorityFeePerGas: draft.maxPriorityFeePerGas,
        ...(authorization === null ? {} : { authorizationList: [authorization] }),
      },
    })
    .then(
      (outcome) => {
        if (!outcome.ok) log.warn({ txId, reason: outcome.reason }, 'a gas wallet may not sign')
        self(outcomeCommand(outcome, txId, nonce, nowMs()) as GasWalletCommand)
      },
      (error: unknown) => {
        log.warn({ err: error, txId }, 'a gas wallet could not sign')
        const why = fault('COSIGNER_UNAVAILABLE')
        self({ type: 'sign-failed', txId, nonce, fault: why, nowMs: nowMs() })
      },
    )
}
