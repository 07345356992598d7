import { CUSTODY_ADDRESS } from '../../../actors/addresses.js'
import type { Authorization } from '../../api/console.js'
import { type ApiKey, keyExpiresAtMs } from '../../domain/api-key.js'
import { type Enlargement, grantedOf } from '../../domain/grant-terms.js'
import { ok, type Result } from '../../errors/fault.js'
import type { GrantOutcome, GrantUpdate } from '../../service-custody/co-signer.js'
import { deriveProofKey } from '../../service-custody/key-proof.js'
import type { ConsoleContext } from '../context.js'
import type { OperationPorts } from '../ports.js'
import { answerToAuthorization, fingerprintOf, proofOf } from './authorizations.js'
import { ownedWallet } from './ownership.js'
import type { DraftKey } from './pending-grants.js'

interface WantedGrant {
  readonly operation: 'create_key' | 'patch_key'
  /** The request without its proof. */
  readonly input: object
  readonly authorization: Authorization | undefined
  readonly enlarges: readonly Enlargement[]
  /** Made once, so that the repetition with a proof gets the same draft. */
  readonly draft: () => DraftKey
}

export interface EnlargedGrant extends DraftKey {
  readonly authorizedBy: NonNullable<GrantOutcome['authorizedBy']>
}

/**
 * Enlarges a grant. If the user's approver device has to confirm it, the first request is refused
 * with AUTHORIZATION_REQUIRED and what to sign; the same request with the proof then completes it.
 */
export async function enlargeGrant(
  ports: OperationPorts,
  context: ConsoleContext,
  { operation, input, authorization, enlarges, draft }: WantedGrant,
): Promise<Result<EnlargedGrant>> {
  const { userId } = context
  const fresh = draft()
  const fingerprint = fingerprintOf(operation, input)
  const wanted = { userId, fingerprint, authorization, enlarges, draft: fresh }
  return answerToAuthorization(ports, wanted, async (asked) => {
    const { key, secret } = asked?.draft ?? fresh
    const proofKey = secret === null ? null : deriveProofKey(secret)
    const grant: GrantUpdate = {
      ...grantOf(key, context, proofKey),
      effect: 'enlarges',
      ...shownAs(ports, key),
      authorization:
        asked === null || authorization === undefined
          ? null
          : {
              version: asked.version,
              confirmBeforeMs: asked.confirmBeforeMs,
              proof: proofOf(authorization),
            },
    }
    const answer = await ports.actors.ask(CUSTODY_ADDRESS, { type: 'put-grant', grant })
    if (!answer.ok) return answer
    const { authorizedBy } = answer.value
    if (authorizedBy === null) throw new Error('a grant was enlarged without a proof')
    return ok({ key, secret, authorizedBy })
  })
}

function shownAs({ reader }: OperationPorts, key: ApiKey): Pick<GrantUpdate, 'shownAs'> {
  const wallet = ownedWallet(reader, key.userId, key.subWalletId)
  return wallet.ok ? { shownAs: { key: key.name, wallet: wallet.value.name } } : {}
}

/**
 * The grant of an active key, as sent to the custody actor. It only takes away unless the caller
 * says otherwise.
 */
export function grantOf(
  key: ApiKey,
  context: ConsoleContext,
  proofKey: Uint8Array | null,
): GrantUpdate {
  return {
    ...grantedOf(key),
    keyId: key.keyId,
    rotatedFrom: null,
    walletId: key.subWalletId,
    userId: key.userId,
    proofKey,
    expiresAt: keyExpiresAtMs(key),
    revoked: key.revokedAtMs !== null,
    consoleToken: context.token,
    byPerson: context.personId,
    parentLineageId: key.parentLineageId,
    effect: 'narrows',
    authorization: null,
  }
}
