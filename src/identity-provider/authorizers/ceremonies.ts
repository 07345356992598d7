import { randomBytes } from 'node:crypto'
import type { Authorizer } from '../../custody/authorizers/authorizer.js'
import { type AuthorizerSet, verifyEntry } from '../../custody/authorizers/authorizer-set.js'
import type { AuthorizerStore } from '../../custody/authorizers/authorizer-store.js'
import {
  type AuthorizerEntry,
  type AuthorizerKind,
  type AuthorizerRequest,
  authorizerIdOf,
  certificateMessage,
  decodeCertificate,
  encodeCertificate,
  entryMessage,
  registrationChallenge,
} from '../../custody/authorizers/certificate.js'
import { type Confirmable, readConfirmable } from '../../custody/authorizers/confirmable.js'
import { createOwnedCache, type OwnedCache } from '../../custody/authorizers/owned-cache.js'
import {
  encodeRegistration,
  type PasskeyRegistration,
  verifyRegistration,
} from '../../custody/authorizers/possession.js'
import { encodeProof, type Proof } from '../../custody/authorizers/proof.js'
import { encodeRootApproval } from '../../custody/authorizers/recovery.js'
import { verifyProof } from '../../custody/authorizers/verify-proof.js'
import type { Persons } from '../../custody/members/persons.js'
import { sameBytes } from '../../quorum-protocol/bytes.js'
import type { P256Signer } from '../../quorum-protocol/p256.js'
import { Refusal } from '../../quorum-protocol/refusal.js'
import type { RegistryHolder } from '../../quorum-protocol/registry-holder.js'
import { sha256, TAG, tagged } from '../../quorum-protocol/tagged.js'
import type { SignInAssertion } from '../login/passkey-sign-in.js'
import type { RecordedAuthorizers } from './recorded-authorizers.js'

/**
 * Where users add and remove their authorizers, and leave proofs of grants that they confirmed in
 * the browser. All of it needs a sign-in at the identity provider, which the wallet service never
 * sees.
 *
 * | ceremony | begin | finish | approve |
 * |---|---|---|---|
 * | first passkey | challenge | registration: done | |
 * | further passkey | challenge | registration | proof of an older one: done |
 * | P-256 key | certificate | the new key's signature (first: done) | proof of an older one: done |
 * | removal | certificate | | proof of any: done |
 * | recovery | certificate | the root's signature, made offline: done, and all others end | |
 *
 * Spec silent: adding the first authorizer takes only a sign-in; each later one, and each removal,
 * takes an existing one. The last one cannot be removed: replacing it takes the registry's root.
 */
export interface AuthorizerCeremonies {
  /** Lists the user's authorizers, oldest first. */
  list(userId: string): readonly Authorizer[]
  beginPasskey(userId: string, label: string): BegunPasskey
  /** @param publicKey 65 bytes */
  beginKey(userId: string, label: string, publicKey: Uint8Array): BegunCertificate
  /** @throws Refusal CONFLICT when it is not the user's */
  beginRemoval(userId: string, authorizerId: Uint8Array): BegunCertificate
  /**
   * @param possession the passkey's registration, or the new P-256 key's signature
   * @returns null when it is done; what an older authorizer has to confirm otherwise
   * @throws Refusal CONFLICT, NOT_CONFIRMED or MALFORMED
   */
  finish(
    userId: string,
    ceremonyId: string,
    possession: PasskeyRegistration | Uint8Array,
  ): Promise<BegunCertificate | null>
  /**
   * Returns a ceremony that waits for an approval, for a person who approves it in another place.
   * @throws Refusal CONFLICT when the user has no waiting ceremony with that id
   */
  waiting(userId: string, ceremonyId: string): BegunCertificate
  /** @throws Refusal CONFLICT or NOT_CONFIRMED */
  approve(userId: string, ceremonyId: string, proof: Proof): Promise<void>
  /**
   * Adds a key that the registry's root approved, for a user who has lost every authorizer. All
   * earlier authorizers end.
   * @throws Refusal CONFLICT, NOT_CONFIRMED or MALFORMED
   */
  recover(userId: string, recovery: Recovery): Promise<void>
  /**
   * Tells whether the person may confirm it: by a role in the account, or because it concerns only
   * that person.
   */
  mayConfirm(userId: string, asked: Pick<Confirmable, 'kind' | 'ownerHash'>): boolean
  /**
   * Keeps a verified proof until the service asks for it.
   * @param statement canonical bytes of the grant, or of the freeze to lift
   * @throws Refusal NOT_CONFIRMED or MALFORMED
   */
  leaveProof(userId: string, statement: Uint8Array, proof: Proof): Promise<void>
  /**
   * Tells whether one of the user's passkeys signed that sign-in, and nothing else.
   * @param signIn a unique name of the sign-in
   */
  isSignIn(userId: string, signIn: string, passkey: SignInAssertion): Promise<boolean>
  /**
   * @param challenge the statement's, 32 bytes
   * @returns null when no proof was left
   */
  proofLeft(challenge: Uint8Array): Uint8Array | null
}

interface BegunPasskey {
  readonly ceremonyId: string
  /** 32 bytes. */
  readonly challenge: Buffer
}

export interface BegunCertificate {
  readonly ceremonyId: string
  readonly certificate: Buffer
  /** 32 bytes: SHA-256 of what is signed. */
  readonly challenge: Buffer
}

interface Recovery {
  readonly certificate: Uint8Array
  /** 64 bytes: the new P-256 key's signature of it. */
  readonly possession: Uint8Array
  /** 64 bytes. */
  readonly rootSignature: Uint8Array
}

interface CeremonyContext {
  readonly store: AuthorizerStore
  /** Writes to that store. */
  readonly recorded: RecordedAuthorizers
  readonly persons: Pick<Persons, 'may'>
  readonly registry: RegistryHolder
  readonly signer: P256Signer
}

interface Ceremony {
  readonly userId: string
  readonly request: AuthorizerRequest
  /** Known once the new authorizer, or the one to remove, is. */
  readonly certificate: Buffer | null
  /** Set once the new key has proved its possession; empty for a removal. */
  readonly possession: Buffer | null
}

/** Spec silent: more than one person opens within their lifetime of ten minutes. */
const OPEN_PER_USER_MAX = 32
/** The bounds over all users; above them the oldest ceremony is dropped. */
const OPEN_BOUNDS = { max: 2_000, perUserMax: OPEN_PER_USER_MAX }
const CEREMONY_LIFE_MS = 10 * 60_000
/** Spec silent: enough time to carry a request to the machine with the root key and back. */
const RECOVERY_LIFE_MS = 7 * 24 * 60 * 60_000

export function createAuthorizerCeremonies(context: CeremonyContext): AuthorizerCeremonies {
  const { store, recorded, persons, registry, signer } = context
  const ceremonies = createOwnedCache<Ceremony>(OPEN_BOUNDS)
  const proofs = createOwnedCache<Buffer>(OPEN_BOUNDS)

  function setOf(userId: string): AuthorizerSet {
    return store.setOf(ownerHashOf(userId))
  }

  function requestOf(
    userId: string,
    action: 'add' | 'remove',
    kind: AuthorizerKind,
    label: string,
  ): AuthorizerRequest {
    const { sequence, head } = setOf(userId)
    return {
      action,
      ownerHash: ownerHashOf(userId),
      sequence: sequence + 1,
      previous: head,
      createdAtMs: Date.now(),
      nonce: randomBytes(16),
      kind,
      label,
    }
  }

  function open(ceremony: Ceremony): string {
    // People type the id on a command line, where a leading hyphen would mark an option.
    const ceremonyId = randomBytes(16).toString('hex')
    keepOpen(ceremonies, ceremonyId, ceremony.userId, ceremony)
    return ceremonyId
  }

  function ceremonyOf(userId: string, ceremonyId: string): Ceremony {
    const ceremony = ceremonies.get(ceremonyId)
    if (ceremony?.userId !== userId) throw new Refusal('CONFLICT', 'begin again: it took too long')
    return ceremony
  }

  async function keep(
    { ownerHash, sequence }: Pick<AuthorizerRequest, 'ownerHash' | 'sequence'>,
    entry: Omit<AuthorizerEntry, 'userSignature'>,
  ): Promise<void> {
    const { signCounts } = await verifyEntry(store.setOf(ownerHash), entry, {
      webauthn: registry.current.webauthn,
      root: registry.current.root,
      signCount: store.signCount,
    })
    const signed = { ...entry, userSignature: await signer.sign(entryMessage(entry)) }
    if (!(await recorded.append(ownerHash, sequence, signed))) {
      throw new Refusal('CONFLICT', 'the user’s authorizers have changed')
    }
    await Promise.all(
      signCounts.map((seen) => store.raiseSignCount(seen.authorizerId, seen.signCount)),
    )
  }

  function certified(ceremony: Ceremony): BegunCertificate {
    const certificate = ceremony.certificate ?? Buffer.alloc(0)
    return {
      ceremonyId: open(ceremony),
      certificate,
      challenge: sha256(certificateMessage(certificate)),
    }
  }

  return {
    list: (userId) => setOf(userId).active,
    beginPasskey(userId, label) {
      const request = requestOf(userId, 'add', 'passkey', label)
      const ceremonyId = open({ userId, request, certificate: null, possession: null })
      return { ceremonyId, challenge: registrationChallenge(request) }
    },
    beginKey(userId, label, publicKey) {
      const request = requestOf(userId, 'add', 'p256', label)
      const credentialId = Buffer.alloc(0)
      const authorizerId = authorizerIdOf(credentialId, publicKey)
      const certificate = encodeCertificate({ ...request, authorizerId, credentialId, publicKey })
      return certified({ userId, request, certificate, possession: null })
    },
    beginRemoval(userId, authorizerId) {
      const authorizer = setOf(userId).active.find(({ id }) => sameBytes(id, authorizerId))
      if (authorizer === undefined) throw new Refusal('CONFLICT', 'no such authorizer of this user')
      const { kind, label } = authorizer
      const request = requestOf(userId, 'remove', kind, label)
      const nothing = Buffer.alloc(0)
      const certificate = encodeCertificate({
        ...request,
        authorizerId,
        credentialId: nothing,
        publicKey: nothing,
      })
      return certified({ userId, request, certificate, possession: nothing })
    },
    async finish(userId, ceremonyId, possession) {
      const ceremony = ceremonyOf(userId, ceremonyId)
      if (ceremony.possession !== null) throw new Refusal('CONFLICT', 'nothing to prove')
      const { request } = ceremony
      ceremonies.delete(ceremonyId)
      const proven =
        possession instanceof Uint8Array
          ? provenKey(ceremony, possession)
          : await provenPasskey(ceremony, possession)
      if (request.sequence > 1) return certified(proven)
      const { certificate, possession: kept } = proven
      await keep(request, { certificate, possession: kept, approval: Buffer.alloc(0) })
      return null
    },
    waiting(userId, ceremonyId) {
      const { certificate, possession } = ceremonyOf(userId, ceremonyId)
      if (certificate === null || possession === null) {
        throw new Refusal('CONFLICT', 'the new authorizer has not proven itself yet')
      }
      return { ceremonyId, certificate, challenge: sha256(certificateMessage(certificate)) }
    },
    async approve(userId, ceremonyId, proof) {
      const ceremony = ceremonyOf(userId, ceremonyId)
      const { request, certificate, possession } = ceremony
      if (certificate === null || possession === null) {
        throw new Refusal('CONFLICT', 'the new authorizer has not proven itself yet')
      }
      await keep(request, { certificate, possession, approval: encodeProof(proof) })
      ceremonies.delete(ceremonyId)
    },
    async recover(userId, { certificate, possession, rootSignature }) {
      const request = decodeCertificate(certificate)
      if (!sameBytes(request.ownerHash, ownerHashOf(userId))) {
        throw new Refusal('NOT_CONFIRMED', 'approved for another user')
      }
      if (request.createdAtMs + RECOVERY_LIFE_MS < Date.now()) {
        throw new Refusal('NOT_CONFIRMED', 'requested more than a week ago: begin again')
      }
      const approval = encodeRootApproval(rootSignature)
      await keep(request, { certificate, possession, approval })
    },
    mayConfirm: (userId, { kind, ownerHash }) =>
      kind === 'join'
        ? sameBytes(ownerHash, ownerHashOf(userId))
        : persons.may(ownerHash, userId, kind === 'approval' ? 'approve' : 'enlarge'),
    async leaveProof(userId, statement, proof) {
      const { kind, ownerHash, confirmBeforeMs, message } = readConfirmable(statement)
      const nowMs = Date.now()
      if (!this.mayConfirm(userId, { kind, ownerHash })) {
        throw new Refusal('NOT_CONFIRMED', 'a request of another user')
      }
      if (confirmBeforeMs <= nowMs) throw new Refusal('NOT_CONFIRMED', 'confirmed too late')
      const { webauthn } = registry.current
      const verdict = await verifyProof(proof, message, {
        authorizers: setOf(userId).active,
        webauthn,
        softwareAuthorizer: null,
        signCount: store.signCount,
      })
      if (!verdict.ok) throw new Refusal('NOT_CONFIRMED', verdict.reason)
      const name = hex(sha256(message))
      proofs.delete(name)
      keepOpen(proofs, name, userId, encodeProof(proof))
    },
    async isSignIn(userId, signIn, { credentialId, ...signed }) {
      const authorizers = setOf(userId).active
      const used = authorizers.find((one) => sameBytes(one.credentialId, credentialId))
      if (used === undefined) return false
      const { webauthn } = registry.current
      const { signCount } = store
      const proof = { kind: 'passkey', authorizerId: used.id, ...signed } as const
      const context = { authorizers, webauthn, softwareAuthorizer: null, signCount }
      const verdict = await verifyProof(proof, signInMessage(signIn), context)
      if (verdict.ok) await store.raiseSignCount(used.id, verdict.signCount)
      return verdict.ok
    },
    proofLeft: (challenge) => proofs.get(hex(challenge)) ?? null,
  }

  function provenKey(ceremony: Ceremony, signature: Uint8Array) {
    const { certificate, request } = ceremony
    if (certificate === null || request.kind !== 'p256') {
      throw new Refusal('CONFLICT', 'a passkey proves itself by its registration')
    }
    return { ...ceremony, certificate, possession: Buffer.from(signature) }
  }

  async function provenPasskey(ceremony: Ceremony, registration: PasskeyRegistration) {
    const { request } = ceremony
    if (request.kind !== 'passkey') throw new Refusal('CONFLICT', 'a key proves itself by signing')
    const { credentialId, publicKey } = await verifyRegistration(
      registration,
      registrationChallenge(request),
      registry.current.webauthn,
    )
    const authorizerId = authorizerIdOf(credentialId, publicKey)
    const certificate = encodeCertificate({ ...request, authorizerId, credentialId, publicKey })
    return { ...ceremony, certificate, possession: encodeRegistration(registration) }
  }
}

/** @throws Refusal CONFLICT when the user has too many open */
function keepOpen<V extends object>(
  cache: OwnedCache<V>,
  id: string,
  userId: string,
  value: V,
): void {
  if (cache.add(id, userId, value, CEREMONY_LIFE_MS) === null) return
  throw new Refusal('CONFLICT', 'too many are open: finish one, or wait ten minutes')
}

/** Returns the bytes whose SHA-256 a passkey signs. */
export function signInMessage(signIn: string): Buffer {
  return tagged(TAG.signIn, Buffer.from(signIn))
}

function ownerHashOf(userId: string): Buffer {
  return sha256(Buffer.from(userId))
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}
