import { timingSafeEqual } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import {
  encodeGrantStatement,
  type GrantStatement,
  grantMessage,
} from '../../custody/authorizers/grant-statement.js'
import { subKeyProof } from '../../custody/authorizers/sub-key-proof.js'
import type { DataKeys } from '../../custody/domain-keys/data-keys.js'
import type { ShareStore } from '../../custody/domain-keys/share-store.js'
import { EVIDENCE_KIND } from '../../custody/evidence/stored-evidence.js'
import type { Persons } from '../../custody/members/persons.js'
import { enlargements, grantedOf } from '../../domain/grant-terms.js'
import type { UserId } from '../../domain/ids.js'
import type { GrantedPolicy } from '../../domain/key-policy.js'
import { partitionOf } from '../../domain/partition.js'
import { concat, sameBytes, viewOf } from '../../quorum-protocol/bytes.js'
import type { GrantRequest } from '../../quorum-protocol/methods/grants.js'
import { Refusal } from '../../quorum-protocol/refusal.js'
import { sha256 } from '../../quorum-protocol/tagged.js'
import { ancestorsOf, beyond } from './ancestors.js'
import { type Asked, type Authorizer, type Confirmation, NOTHING_CONFIRMED } from './authorizer.js'
import type { TokenHolder } from './console-token.js'
import {
  type Grant,
  type GrantedKey,
  type GrantView,
  hasSuccessor,
  isHead,
  termsIn,
  withoutKey,
} from './granted.js'
import type { LedgerStore, LedgerWriter } from './ledger-store.js'
import type { RecordedChanges } from './recorded-changes.js'
import { checkSubKey, isSameOwner, type PathView } from './sub-key-rules.js'

/** What each API key may have signed, as the identity provider remembers it. */
export interface Grants {
  view(keyId: Uint8Array): PathView | null
  /** Returns 32 bytes that the caller must not change; null when the key cannot prove itself. */
  proofKey(keyId: Uint8Array): Uint8Array | null
  /**
   * Applies a change durably.
   * @param by holder of the verified console token; null without one, when the change may only take
   * away
   * @throws Refusal STALE_GRANT when the grant has changed since the request was made; NOT_GRANTED,
   * NOT_CONFIRMED, UNKNOWN_WALLET, UNKNOWN_KEY or CONFLICT
   */
  put(request: GrantRequest, by: TokenHolder | null): Promise<PutGrant>
  /**
   * Returns the present reference. Resolves once everything before it is on disk.
   * @throws Refusal UNKNOWN_KEY
   */
  reference(keyId: Uint8Array): Promise<GrantReference>
}

/** The grant's id and version, which the service names in its intents. */
interface GrantReference {
  readonly grantId: Uint8Array
  readonly version: number
}

interface PutGrant extends GrantReference {
  /** The encoded proof of the authorizer that confirmed it; empty when nothing was enlarged. */
  readonly proof: Uint8Array
}

/** The bound of keys in memory with their proof keys unsealed; a gateway may use thousands. */
const KNOWN_KEYS_MAX = 4_096

interface KnownKey extends PathView {
  /** Unsealed on first use. */
  proofKey: Buffer | null
}

interface Change {
  readonly grantId: Buffer
  readonly grant: Grant
  readonly key: GrantedKey
  readonly proofKey: Uint8Array | null
  /** Whether the change grants something new. What a key makes for others it has itself. */
  readonly effect: 'enlarges' | 'narrows' | 'delegates'
}

export function createGrants(
  ledger: LedgerStore,
  shares: ShareStore,
  authorizer: Authorizer,
  persons: Persons,
  changes: RecordedChanges,
): Grants {
  const { dataKeys } = shares

  // Kept together, because each signature needs all of it.
  const known = new LRUCache<string, KnownKey>({
    max: KNOWN_KEYS_MAX,
    dispose: ({ proofKey }) => void proofKey?.fill(0),
  })

  function find(keyId: Uint8Array): KnownKey | null {
    const name = viewOf(keyId).toString('latin1')
    const found = known.get(name)
    if (found !== undefined) return found
    const key = ledger.key(keyId)
    const grant = key === null ? null : ledger.grant(key.grantId)
    // A missing grant is not cached, because it may still arrive.
    if (key === null || grant === null) return null
    const made = {
      ...{ key, grant, ancestors: ancestorsOf(ledger, grant), proofKey: null },
      partition: partitionOf(grant.userId as UserId),
    }
    known.set(name, made)
    return made
  }

  async function reference(keyId: Uint8Array): Promise<GrantReference> {
    await changes.settled()
    const found = find(keyId)
    if (found === null) throw new Refusal('UNKNOWN_KEY', 'no grant for this key')
    return { grantId: found.key.grantId, version: found.grant.version }
  }

  function proofKey(keyId: Uint8Array): Uint8Array | null {
    const found = find(keyId)
    if (found === null || found.key.sealedProofKey === null) return null
    found.proofKey ??= dataKeys.open(found.key.sealedProofKey, proofContext(keyId))
    return found.proofKey
  }

  function plan(request: GrantRequest): Change {
    const present = find(request.keyId)
    const old = request.rotatedFrom === null ? null : find(request.rotatedFrom)
    const change = planned(request, present, old)
    // A late change must not undo the one before it.
    const isFor = (present ?? old)?.grant.version ?? 0
    if (!request.revoked && request.basedOn !== null && request.basedOn !== isFor) {
      throw new Refusal('STALE_GRANT', 'the grant has changed since')
    }
    return change
  }

  function planned(request: GrantRequest, present: KnownKey | null, old: KnownKey | null): Change {
    if (present !== null) return changePresent(request, present, dataKeys)
    if (request.rotatedFrom !== null) return rotate(request, old)
    if (request.revoked) throw new Refusal('UNKNOWN_KEY', 'nothing to revoke')
    return request.parentId === null ? introduce(request) : introduceBelow(request)
  }

  /** Introduces a key made by a key: within everything above it, and with its maker's proof. */
  function introduceBelow(request: GrantRequest): Change {
    const maker = request.madeBy === null ? null : find(request.madeBy)
    if (maker === null || request.madeBy === null)
      throw new Refusal('UNKNOWN_KEY', 'the key that made it')
    checkSubKey(request, maker, ledger, Date.now())
    const change = introduce(request)
    const held = proofKey(request.madeBy)
    const ownerHash = sha256(Buffer.from(request.userId))
    const statement = encodeGrantStatement(statementOf(request, change, ownerHash))
    const { makerProof } = request
    if (held === null || makerProof === null)
      throw new Refusal('KEY_PROOF_MISSING', 'no proof of its maker')
    if (!timingSafeEqual(subKeyProof(held, statement), makerProof)) {
      throw new Refusal('KEY_PROOF_MISSING', 'proof of another key than its maker')
    }
    return { ...change, effect: 'delegates' }
  }

  /** A lineage without a list of its keys lives as long as the one that made this key. */
  function keepMaker({ madeBy }: GrantRequest, writer: LedgerWriter): void {
    const maker = madeBy === null ? null : find(madeBy)
    if (maker === null || madeBy === null) return
    const { grant, key } = maker
    if (grant.liveKeys.some((one) => sameBytes(one, madeBy))) return
    const liveKeys = [Buffer.from(madeBy), ...grant.liveKeys]
    writer.putGrant(Buffer.from(key.grantId), { ...grant, liveKeys })
  }

  /** This covers a rotation too: a person who makes a key holds its secret. */
  function isOwner(by: TokenHolder, { userId }: GrantRequest, ownerHash: Uint8Array): boolean {
    return by.accountId === userId && persons.may(ownerHash, by.personId, 'enlarge')
  }

  return {
    view: find,
    proofKey,
    reference,
    async put(request, by) {
      const wallet = shares.get(request.walletId)
      if (wallet === null || wallet.proofs === null) {
        throw new Refusal('UNKNOWN_WALLET', 'no such key')
      }
      if (!sameBytes(wallet.certificate.ownerHash, sha256(Buffer.from(request.userId)))) {
        throw new Refusal('NOT_GRANTED', 'wallet of another user')
      }
      const ownerHash = sha256(Buffer.from(request.userId))
      const first = plan(request)
      const takesAway =
        first.effect === 'narrows' && (request.revoked || request.rotatedFrom === null)
      const needsNoUser = takesAway || first.effect === 'delegates'
      if (by === null ? !needsNoUser : !isOwner(by, request, ownerHash)) {
        throw new Refusal('NOT_GRANTED', 'console token of another user, or none')
      }
      const confirmed: Confirmation =
        first.effect === 'enlarges'
          ? await authorizer.confirm(
              askedOf(statementOf(request, first, ownerHash)),
              request.confirmation,
              Date.now(),
            )
          : NOTHING_CONFIRMED
      const { result, recorded } = changes.commit((writer) => {
        // Planned again, because another change may have been made while this one was confirmed.
        const change = plan(request)
        const isAsConfirmed = change.grant.version === first.grant.version
        if (by !== null && !isOwner(by, request, ownerHash)) {
          throw new Refusal('NOT_GRANTED', 'no longer an owner')
        }
        authorizer.requireStanding(confirmed, ownerHash)
        if (change.effect === 'enlarges' && !(first.effect === 'enlarges' && isAsConfirmed)) {
          throw new Refusal('STALE_GRANT', 'the grant has changed since')
        }
        const sealedProofKey =
          change.proofKey === null
            ? change.key.sealedProofKey
            : dataKeys.seal(change.proofKey, proofContext(request.keyId))
        writer.putGrant(change.grantId, change.grant)
        if (change.effect === 'delegates') keepMaker(request, writer)
        writer.putKey(Buffer.from(request.keyId), { ...change.key, sealedProofKey })
        // Clears all: the keys of one lineage share its grant, and planning has read some of
        // them.
        known.clear()
        const statement = encodeGrantStatement(statementOf(request, change, ownerHash))
        const body = concat(statement, confirmed.proof)
        const entry = { timeMs: Date.now(), kind: EVIDENCE_KIND.grant, body }
        return { result: change, entry }
      })
      const { grantId, grant } = result
      await Promise.all([recorded, authorizer.spend(confirmed)])
      return { grantId, version: grant.version, proof: confirmed.proof }
    },
  }
}

function introduce(request: GrantRequest): Change {
  return {
    grantId: Buffer.from(request.keyId),
    grant: {
      ...termsOf(request),
      version: 1,
      parentId: request.parentId === null ? null : Buffer.from(request.parentId),
      liveKeys: request.revoked ? [] : [Buffer.from(request.keyId)],
    },
    key: {
      grantId: Buffer.from(request.keyId),
      sealedProofKey: null,
      expiresAtMs: request.expiresAtMs,
      revoked: request.revoked,
      ceiling: null,
    },
    proofKey: request.proofKey,
    effect: 'enlarges',
  }
}

/** Puts a new key in the place of an old one, under the same grant and never with more. */
function rotate(request: GrantRequest, old: GrantView | null): Change {
  // A successor that the service gave up is stored as revoked, so that it cannot arrive late.
  if (old === null || (old.key.revoked && !request.revoked))
    throw new Refusal('UNKNOWN_KEY', 'key to rotate')
  const enlarges = !request.revoked && enlargements(termsIn(old), request).length > 0
  if (enlarges || !isSameOwner(request, old.grant)) {
    throw new Refusal('NOT_GRANTED', 'a rotation cannot enlarge the grant')
  }
  const { version, parentId, liveKeys } = old.grant
  const keys = [...liveKeys, Buffer.from(request.keyId)]
  return {
    grantId: Buffer.from(old.key.grantId),
    grant: request.revoked
      ? old.grant
      : { ...termsOf(request), version: version + 1, parentId, liveKeys: keys },
    key: {
      grantId: old.key.grantId,
      sealedProofKey: null,
      expiresAtMs: request.expiresAtMs,
      revoked: request.revoked,
      ceiling: null,
    },
    proofKey: request.proofKey,
    effect: 'narrows',
  }
}

function changePresent(request: GrantRequest, present: PathView, dataKeys: DataKeys): Change {
  const { key, grant, ancestors } = present
  if (!isSameOwner(request, grant)) throw new Refusal('CONFLICT', 'key of another wallet or user')
  if (key.revoked && !request.revoked) throw new Refusal('CONFLICT', 'key is revoked for good')
  const sameProof =
    request.proofKey === null || holdsProofKey(request.keyId, key, request.proofKey, dataKeys)
  const enlarges =
    !request.revoked && (enlargements(termsIn(present), request).length > 0 || !sameProof)
  // A confirmation names this key and its end, but the grant is the lineage's and would stay
  // enlarged.
  if (enlarges && hasSuccessor(request.keyId, present)) {
    throw new Refusal('NOT_GRANTED', 'a key with a successor gains nothing')
  }
  if (enlarges && beyond(ancestors, request).length > 0) {
    throw new Refusal('NOT_GRANTED', 'more than the key that made it has')
  }
  // A key with an end has a successor, to which the lineage's grant belongs, or another key made
  // it.
  const ofKeyAlone = request.expiresAtMs !== null && !enlarges && !isHead(request.keyId, grant)
  const ceiling = ofKeyAlone ? grantedOf(request) : null
  const version = grant.version + 1
  const changed = ofKeyAlone ? { ...grant, version } : { ...grant, ...termsOf(request), version }
  return {
    grantId: Buffer.from(key.grantId),
    // A revocation ends the key; the other keys of its lineage keep their rights.
    grant: request.revoked ? withoutKey(grant, request.keyId) : changed,
    key: {
      grantId: key.grantId,
      sealedProofKey: request.revoked ? null : key.sealedProofKey,
      expiresAtMs: request.expiresAtMs,
      revoked: request.revoked,
      ceiling,
    },
    proofKey: request.revoked || sameProof ? null : request.proofKey,
    effect: enlarges ? 'enlarges' : 'narrows',
  }
}

function holdsProofKey(
  keyId: Uint8Array,
  key: GrantedKey,
  proofKey: Uint8Array,
  dataKeys: DataKeys,
): boolean {
  if (key.sealedProofKey === null) return false
  const held = dataKeys.open(key.sealedProofKey, proofContext(keyId))
  try {
    return sameBytes(sha256(held), sha256(proofKey))
  } finally {
    held.fill(0)
  }
}

function termsOf(request: GrantRequest): GrantedPolicy & Pick<Grant, 'walletId' | 'userId'> {
  return {
    walletId: Buffer.from(request.walletId),
    userId: request.userId,
    ...grantedOf(request),
  }
}

/** Returns what the user confirms: everything except the proof key, which a digest replaces. */
function statementOf(request: GrantRequest, change: Change, ownerHash: Uint8Array): GrantStatement {
  return {
    ...grantedOf(request),
    keyId: request.keyId,
    grantId: change.grantId,
    version: change.grant.version,
    walletId: request.walletId,
    ownerHash,
    expiresAtMs: request.expiresAtMs,
    revoked: request.revoked,
    rotatedFrom: request.rotatedFrom,
    parentId: change.grant.parentId,
    proofKeyDigest: request.proofKey === null ? null : sha256(request.proofKey),
    confirmBeforeMs: request.confirmBeforeMs,
  }
}

function askedOf(statement: GrantStatement): Asked {
  const { ownerHash, confirmBeforeMs } = statement
  return { message: grantMessage(encodeGrantStatement(statement)), ownerHash, confirmBeforeMs }
}

function proofContext(keyId: Uint8Array): Buffer {
  return concat(Buffer.from('countersign/proof-key/v1\0', 'latin1'), keyId)
}
