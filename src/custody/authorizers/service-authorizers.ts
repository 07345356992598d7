import type { SocketClient } from '../../quorum-protocol/client.js'
import { askUserSide } from '../../quorum-protocol/methods/ask.js'
import { ENTRIES_PER_ANSWER } from '../../quorum-protocol/methods/authorizers.js'
import { verifyP256 } from '../../quorum-protocol/p256.js'
import { Refusal } from '../../quorum-protocol/refusal.js'
import type { RegistryHolder } from '../../quorum-protocol/registry-holder.js'
import type { EvidenceLog } from '../evidence/evidence-log.js'
import { EVIDENCE_KIND } from '../evidence/stored-evidence.js'
import { type AuthorizerSet, ENTRIES_MAX, verifyEntry } from './authorizer-set.js'
import type { AuthorizerStore } from './authorizer-store.js'
import { decodeCertificate, decodeEntry, encodeEntry, entryMessage } from './certificate.js'

interface SyncContext {
  readonly userSide: SocketClient
  readonly store: AuthorizerStore
  readonly registry: RegistryHolder
  readonly evidence: EvidenceLog
}

/**
 * Fetches a user's authorizers from the identity provider, for the service's own record. Nothing is
 * trusted: each entry must carry the identity provider's signature, the new key's own proof, and
 * the approval of an authorizer that the service already knew. Only for the user's first one does
 * the service depend on the identity provider, which adds it after the user's login there.
 * @param ownerHash 32 bytes: SHA-256 of the user id
 * @throws Refusal NOT_CONFIRMED, UNAUTHENTIC, CONFLICT or MALFORMED for an entry that does not
 * verify
 * @throws Unanswered
 */
export async function syncAuthorizers(
  ownerHash: Uint8Array,
  context: SyncContext,
): Promise<AuthorizerSet> {
  const { userSide, store } = context
  let set = store.setOf(ownerHash)
  while (set.sequence < ENTRIES_MAX) {
    const after = set.sequence
    const fresh = await askUserSide(userSide, 'authorizers-get', { ownerHash, after })
    for (const entry of fresh) set = await takeEntry(entry, ownerHash, set, context)
    if (fresh.length < ENTRIES_PER_ANSWER) break
  }
  return set
}

async function takeEntry(
  bytes: Uint8Array,
  ownerHash: Uint8Array,
  set: AuthorizerSet,
  { store, registry, evidence }: SyncContext,
): Promise<AuthorizerSet> {
  const entry = decodeEntry(bytes)
  const { createdAtMs, ownerHash: certified } = decodeCertificate(entry.certificate)
  if (!Buffer.from(ownerHash).equals(certified)) throw new Refusal('CONFLICT', 'another user')
  const message = entryMessage(entry)
  const approvers = registry.current.keysOf('approvers', createdAtMs)
  if (!approvers.some((key) => verifyP256(key, message, entry.userSignature))) {
    throw new Refusal('NOT_CONFIRMED', 'the identity provider has not signed the authorizer')
  }
  const verified = await verifyEntry(set, entry, {
    webauthn: registry.current.webauthn,
    root: registry.current.root,
    // The certificate's place makes the approval valid for it only; later uses may be known
    // already.
    signCount: () => 0,
  })
  // Another thread of this domain may have stored it already.
  if (await store.append(ownerHash, verified.set.sequence, entry)) {
    const body = encodeEntry(entry)
    await evidence.append({ timeMs: createdAtMs, kind: EVIDENCE_KIND.authorizer, body })
  }
  return verified.set
}
