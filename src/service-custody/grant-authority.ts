import { type Authorizer, authorizerName } from '../custody/authorizers/authorizer.js'
import type { AuthorizerStore } from '../custody/authorizers/authorizer-store.js'
import {
  CONFIRMATION_LIFE_MS,
  encodeGrantStatement,
  type GrantStatement,
  grantMessage,
} from '../custody/authorizers/grant-statement.js'
import { decodeProof } from '../custody/authorizers/proof.js'
import { subKeyProof } from '../custody/authorizers/sub-key-proof.js'
import { verifyProof } from '../custody/authorizers/verify-proof.js'
import { canonicalGrant } from '../domain/grant-terms.js'
import { ulidBytes } from '../domain/ids.js'
import { isoTime } from '../domain/iso-time.js'
import type { Power } from '../domain/role.js'
import { FaultError, fault } from '../errors/fault.js'
import type { SocketClient } from '../quorum-protocol/client.js'
import { askUserSide } from '../quorum-protocol/methods/ask.js'
import { Refusal } from '../quorum-protocol/refusal.js'
import type { WebAuthnPins } from '../quorum-protocol/registry.js'
import type { RegistryHolder } from '../quorum-protocol/registry-holder.js'
import { sha256 } from '../quorum-protocol/tagged.js'
import type {
  GrantAuthorization,
  GrantOutcome,
  GrantUpdate,
  ListedAuthorizer,
  ShownNames,
} from './co-signer.js'
import type { RemoteMembers } from './members.js'

/**
 * The service's own judgement of what a user confirmed. The identity provider judges again; neither
 * domain trusts the other's result.
 */
export interface GrantAuthority {
  /**
   * Collects what the identity provider needs besides the grant.
   * @throws FaultError AUTHORIZATION_REQUIRED or AUTHORIZATION_REFUSED
   */
  basisOf(update: GrantUpdate, nowMs: number): Promise<GrantBasis>
  /**
   * Verifies the grant that the identity provider returned, and the proof that it accepted.
   * @returns who confirmed it, and the body of its evidence
   * @throws Refusal NOT_CONFIRMED
   */
  accept(
    update: GrantUpdate,
    answer: { readonly grantId: Uint8Array; readonly version: number; readonly proof: Uint8Array },
  ): Promise<GrantOutcome & { readonly evidence: Buffer }>
  /**
   * Verifies the proof by the user's authorizer over a statement.
   * @returns null where the identity provider's software authorizer (dev) confirms
   * @throws FaultError AUTHORIZATION_REQUIRED or AUTHORIZATION_REFUSED
   */
  proofOver(asked: AskedProof, nowMs: number): Promise<Uint8Array | null>
  /**
   * A proof that the user side took, once more verified.
   * @param message what it is over
   * @returns what confirmed it
   * @throws Refusal NOT_CONFIRMED
   */
  accepted(
    userId: string,
    proof: Uint8Array,
    message: Uint8Array,
    power?: Power | 'own',
  ): Promise<NonNullable<GrantOutcome['authorizedBy']>>
}

/** A statement that a person has to confirm. */
interface AskedProof {
  /** The account; any member with the power may confirm. */
  readonly userId: string
  /** The default is the power to enlarge. With `own`, `userId` is the person who must confirm. */
  readonly power?: Power | 'own'
  readonly authorization: GrantAuthorization | null
  /** The version of the change; a proof is valid for this version only. */
  readonly version: number
  readonly statementUntil: (confirmBeforeMs: number) => Uint8Array
  /** Returns the bytes to sign for a statement, with their tag. */
  readonly messageOf: (statement: Uint8Array) => Buffer
  /** The deadline where the statement sets one; the default is ten minutes after the request. */
  readonly confirmUntil?: number
  /**
   * The identity provider's page for the confirmation; the default serves every kind of statement.
   */
  readonly confirmPath?: string
  /** Names for key and wallet on that page, shown besides their ids. */
  readonly shownAs?: ShownNames | undefined
}

export interface GrantBasis {
  /**
   * The grant's version at the identity provider that the change applies to; 0 where it has no
   * grant.
   */
  readonly basedOn: number
  /**
   * The proof of an enlargement. Null for other changes, and where the identity provider's software
   * authorizer (dev) confirms.
   */
  readonly proof: Uint8Array | null
  /** For a key made by a key: the proof that its maker requested it. */
  readonly makerProof?: Uint8Array
}

interface AuthorityContext {
  readonly userSide: SocketClient
  /** What this domain remembers about authorizers. */
  readonly store: AuthorizerStore
  readonly registry: RegistryHolder
  readonly members: Pick<RemoteMembers, 'authorizersOf' | 'knownAuthorizersOf'>
}

export function createGrantAuthority(context: AuthorityContext): GrantAuthority {
  const { userSide, store, registry, members } = context

  function judge(active: readonly Authorizer[], proof: Uint8Array, message: Uint8Array) {
    const { webauthn, softwareAuthorizer } = registry.current
    return verifyProof(decodeProof(proof), message, {
      authorizers: active,
      webauthn,
      softwareAuthorizer,
      signCount: store.signCount,
    })
  }

  /** Returns the grant's id and the version that the next change will give it. */
  async function nextOf(keyId: Uint8Array): Promise<{ grantId: Uint8Array; version: number }> {
    try {
      const { grantId, version } = await askUserSide(userSide, 'grant-get', { keyId })
      return { grantId, version: version + 1 }
    } catch (error) {
      if (error instanceof Refusal && error.code === 'UNKNOWN_KEY') {
        return { grantId: keyId, version: 1 }
      }
      throw error
    }
  }

  async function proofFor(
    update: GrantUpdate,
    next: { readonly grantId: Uint8Array; readonly version: number },
    nowMs: number,
  ): Promise<Uint8Array | null> {
    if (update.effect === 'narrows') return null
    const { userId, authorization, shownAs } = update
    const statementUntil = (confirmBeforeMs: number) =>
      encodeGrantStatement(statementOf(update, { ...next, confirmBeforeMs }))
    const asked = { userId, authorization, version: next.version, statementUntil, shownAs }
    return proofOver({ ...asked, messageOf: grantMessage }, nowMs)
  }

  async function proofOver(asked: AskedProof, nowMs: number): Promise<Uint8Array | null> {
    const { userId, authorization, version, statementUntil, messageOf } = asked
    const active = await members.authorizersOf(userId, asked.power ?? 'enlarge')
    const { webauthn, softwareAuthorizer } = registry.current
    if (authorization === null && active.length === 0 && softwareAuthorizer !== null) {
      return null
    }
    const confirmBeforeMs =
      authorization?.confirmBeforeMs ?? asked.confirmUntil ?? nowMs + CONFIRMATION_LIFE_MS
    const statement = statementUntil(confirmBeforeMs)
    const message = messageOf(statement)
    const challenge = sha256(message)
    const path = asked.confirmPath ?? confirmPathOf(statement, asked.shownAs)
    const toSign = { statement, challenge, version, confirmBeforeMs, path }
    if (authorization === null) throw required(toSign, active, webauthn)
    if (authorization.version !== version) throw refused('the grant changed after it was shown')
    if (authorization.confirmBeforeMs <= nowMs) throw refused('confirmed too late')
    const proof = authorization.proof ?? (await askUserSide(userSide, 'proof-get', { challenge }))
    if (proof === null) throw required(toSign, active, webauthn)
    const verdict = await judge(active, proof, message)
    if (!verdict.ok) throw refused(verdict.reason)
    return proof
  }

  async function accepted(
    userId: string,
    proof: Uint8Array,
    message: Uint8Array,
    power: Power | 'own' = 'enlarge',
  ) {
    const verdict = await judge(members.knownAuthorizersOf(userId, power), proof, message)
    if (!verdict.ok) throw new Refusal('NOT_CONFIRMED', verdict.reason)
    if (verdict.authorizer !== null) {
      await store.raiseSignCount(verdict.authorizer.id, verdict.signCount)
    }
    return decodeProof(proof).kind
  }

  return {
    proofOver,
    accepted,
    async basisOf(update, nowMs) {
      // A revocation applies to every version.
      if (update.revoked) return { basedOn: 0, proof: null }
      const next = await nextOf(ulidBytes(update.rotatedFrom ?? update.keyId))
      const proof = await proofFor(update, next, nowMs)
      return { basedOn: next.version - 1, proof, ...makerProofOf(update, next) }
    },
    async accept(update, { grantId, version, proof }) {
      const confirmBeforeMs = update.authorization?.confirmBeforeMs ?? 0
      const statement = encodeGrantStatement(
        statementOf(update, { grantId, version, confirmBeforeMs }),
      )
      const evidence = Buffer.concat([statement, proof])
      if (proof.length === 0) {
        if (update.effect === 'enlarges') throw new Refusal('NOT_CONFIRMED', 'no proof came back')
        return { authorizedBy: null, evidence }
      }
      const authorizedBy = await accepted(update.userId, proof, grantMessage(statement))
      return { authorizedBy, evidence }
    },
  }
}

export function listedAuthorizer(authorizer: Authorizer): ListedAuthorizer {
  const { id, kind, label, createdAtMs, credentialId } = authorizer
  return {
    authorizerId: authorizerName(id),
    kind,
    label,
    createdAtMs,
    credentialId: kind === 'passkey' ? base64Url(credentialId) : null,
  }
}

/** Returns the identity provider's page for a user's authorizers; null without passkeys. */
export function managePage(webauthn: WebAuthnPins | null): string | null {
  const origin = webauthn?.origins[0]
  return origin === undefined ? null : `${origin}/authorizers`
}

export function ownerHashOf(userId: string): Buffer {
  return sha256(Buffer.from(userId))
}

function makerProofOf(
  update: GrantUpdate,
  next: { readonly grantId: Uint8Array; readonly version: number },
): Pick<GrantBasis, 'makerProof'> {
  if (update.madeBy === undefined) return {}
  const statement = encodeGrantStatement(statementOf(update, { ...next, confirmBeforeMs: 0 }))
  return { makerProof: subKeyProof(update.madeBy.proofKey, statement) }
}

interface Asked {
  readonly grantId: Uint8Array
  readonly version: number
  readonly confirmBeforeMs: number
}

function statementOf(update: GrantUpdate, asked: Asked): GrantStatement {
  return {
    ...canonicalGrant(update),
    ...asked,
    keyId: ulidBytes(update.keyId),
    walletId: ulidBytes(update.walletId),
    ownerHash: ownerHashOf(update.userId),
    expiresAtMs: update.expiresAt,
    revoked: update.revoked,
    rotatedFrom: update.rotatedFrom === null ? null : ulidBytes(update.rotatedFrom),
    parentId: update.parentLineageId === undefined ? null : ulidBytes(update.parentLineageId),
    proofKeyDigest: update.proofKey === null ? null : sha256(update.proofKey),
  }
}

interface ToSign extends Pick<Asked, 'version' | 'confirmBeforeMs'> {
  readonly statement: Uint8Array
  /** 32 bytes. */
  readonly challenge: Uint8Array
  readonly path: string
}

function confirmPathOf(statement: Uint8Array, shownAs: ShownNames | undefined): string {
  const query = new URLSearchParams({ grant: base64Url(statement), ...shownAs })
  return `/authorizers/confirm?${query.toString()}`
}

function required(
  { statement, challenge, version, confirmBeforeMs, path }: ToSign,
  active: readonly Authorizer[],
  webauthn: WebAuthnPins | null,
): FaultError {
  const page = managePage(webauthn)
  const authorizers = active.map(listedAuthorizer).map((listed) => ({
    authorizer_id: listed.authorizerId,
    kind: listed.kind,
    label: listed.label,
    credential_id: listed.credentialId,
  }))
  const details = {
    grant: base64Url(statement),
    grant_version: version,
    challenge: base64Url(challenge),
    confirm_before: isoTime(confirmBeforeMs),
    authorizers,
    confirm_url: page === null ? null : new URL(path, page).href,
    manage_url: page,
  }
  const none =
    'You have no authorizer yet: register a passkey or a P-256 key with the identity provider first.'
  return new FaultError(
    fault('AUTHORIZATION_REQUIRED', details, authorizers.length === 0 ? none : undefined),
  )
}

function refused(reason: string): FaultError {
  return new FaultError(fault('AUTHORIZATION_REFUSED', { reason }))
}

function base64Url(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64url')
}
