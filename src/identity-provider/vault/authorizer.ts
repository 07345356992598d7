import { createPrivateKey } from 'node:crypto'
import type { AuthorizerStore } from '../../custody/authorizers/authorizer-store.js'
import type { Confirmable } from '../../custody/authorizers/confirmable.js'
import { CONFIRMATION_LIFE_MS } from '../../custody/authorizers/grant-statement.js'
import { decodeProof, encodeProof } from '../../custody/authorizers/proof.js'
import { verifyProof } from '../../custody/authorizers/verify-proof.js'
import { readPrivateFile } from '../../custody/domain-keys/private-file.js'
import type { Persons } from '../../custody/members/persons.js'
import type { Power } from '../../domain/role.js'
import { sameBytes } from '../../quorum-protocol/bytes.js'
import { type P256Signer, p256SignerOf } from '../../quorum-protocol/p256.js'
import { Refusal } from '../../quorum-protocol/refusal.js'
import type { RegistryHolder } from '../../quorum-protocol/registry-holder.js'

/**
 * Confirms that the user wants a grant enlarged, or a freeze lifted: a console token alone, which the identity
 * provider itself could mint, must not be enough.
 */
export interface Authorizer {
  /** One sentence for the log at boot. */
  readonly announcement: string
  /**
   * @param confirmation an encoded proof over the statement; null when the caller sent none
   * @param power what the authorizer's person must have in the account; default: to enlarge.
   *   `own`: `ownerHash` is of a person, whose own authorizer it has to be
   * @throws Refusal NOT_CONFIRMED or MALFORMED
   */
  confirm(
    statement: Asked,
    confirmation: Uint8Array | null,
    nowMs: number,
    power?: Power | 'own',
  ): Promise<Confirmation>
  /**
   * In the step that puts a change in force: whoever confirmed it may have been removed meanwhile.
   * @throws Refusal NOT_CONFIRMED
   */
  requireStanding(confirmation: Confirmation, ownerHash: Uint8Array): void
  /** Once the change is in force: the authenticator's count of uses must rise from here. */
  spend(confirmation: Confirmation): Promise<void>
}

export interface Confirmation {
  /** Encoded; for the service and the evidence. */
  readonly proof: Uint8Array
  readonly authorizerId: Uint8Array | null
  readonly signCount: number
}

/** What of a statement a confirmation rests on. */
export type Asked = Pick<Confirmable, 'message' | 'ownerHash' | 'confirmBeforeMs'>

/** Of a change that takes away, or leaves things as they are. */
export const NOTHING_CONFIRMED: Confirmation = {
  proof: Buffer.alloc(0),
  authorizerId: null,
  signCount: 0,
}

/** Two clocks may differ. */
const CLOCK_SLACK_MS = 60_000

/**
 * @param software dev only: signs for users who have no authorizer of their own, through the same
 * sign-and-verify path that a user's own takes
 */
export function createAuthorizer(
  store: Pick<AuthorizerStore, 'signCount' | 'raiseSignCount'>,
  persons: Persons,
  registry: RegistryHolder,
  software: P256Signer | null,
): Authorizer {
  return {
    announcement:
      software === null
        ? 'grants are enlarged by the passkeys and P-256 keys of users alone'
        : 'dev: a software key confirms the grants of users without a passkey or P-256 key',
    async confirm(statement, confirmation, nowMs, power = 'enlarge') {
      const { webauthn, softwareAuthorizer } = registry.current
      const { ownerHash } = statement
      const active =
        power === 'own'
          ? persons.ownAuthorizersOf(ownerHash)
          : persons.authorizersOf(ownerHash, power)
      const { message } = statement
      if (confirmation === null && (software === null || active.length > 0)) {
        throw new Refusal('NOT_CONFIRMED', 'an authorizer of the user must confirm it')
      }
      if (confirmation !== null) checkTime(statement.confirmBeforeMs, nowMs)
      const encoded = confirmation ?? (await softwareProof(software, message))
      const verdict = await verifyProof(decodeProof(encoded), message, {
        authorizers: active,
        webauthn,
        softwareAuthorizer,
        signCount: store.signCount,
      })
      if (!verdict.ok) throw new Refusal('NOT_CONFIRMED', verdict.reason)
      return {
        proof: encoded,
        authorizerId: verdict.authorizer?.id ?? null,
        signCount: verdict.signCount,
      }
    },
    requireStanding({ authorizerId }, ownerHash) {
      if (authorizerId === null) return
      const standing = persons.authorizersOf(ownerHash, 'enlarge')
      if (!standing.some(({ id }) => sameBytes(id, authorizerId))) {
        throw new Refusal('NOT_CONFIRMED', 'no such authorizer of this user any more')
      }
    },
    async spend({ authorizerId, signCount }) {
      if (authorizerId !== null) await store.raiseSignCount(authorizerId, signCount)
    },
  }
}

/** @throws Error when the key is missing or readable by others */
export function openSoftwareAuthorizer(path: string): P256Signer {
  const pem = readPrivateFile(path)
  const signer = p256SignerOf(createPrivateKey(pem))
  pem.fill(0)
  return signer
}

async function softwareProof(software: P256Signer | null, message: Uint8Array): Promise<Buffer> {
  if (software === null) throw new Refusal('NOT_CONFIRMED', 'no software authorizer')
  return encodeProof({ kind: 'software', signature: await software.sign(message) })
}

/** A proof made today must not lie about until somebody finds a use for it. */
function checkTime(confirmBeforeMs: number, nowMs: number): void {
  if (confirmBeforeMs <= nowMs) throw new Refusal('NOT_CONFIRMED', 'confirmed too late')
  if (confirmBeforeMs > nowMs + CONFIRMATION_LIFE_MS + CLOCK_SLACK_MS) {
    throw new Refusal('NOT_CONFIRMED', 'the confirmation would be good for too long')
  }
}
