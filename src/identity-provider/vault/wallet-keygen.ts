import { randomBytes } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { ShareStore } from '../../custody/domain-keys/share-store.js'
import type { EvidenceLog } from '../../custody/evidence/evidence-log.js'
import { encodeWalletEvidence } from '../../custody/evidence/evidence-records.js'
import { EVIDENCE_KIND } from '../../custody/evidence/stored-evidence.js'
import type { Cell } from '../../domain/cells.js'
import { expectBytes, sameBytes } from '../../quorum-protocol/bytes.js'
import { addPoints, isSignedBy, pointOf, randomScalar } from '../../quorum-protocol/curve.js'
import {
  certificateMessage,
  checkShareProof,
  commitmentOf,
  encodeCertificate,
  type KeygenReveal,
  type KeygenTerms,
  kindOf,
  proveShare,
  selfTestDigest,
  selfTestRequest,
  transcriptOf,
  walletPoint,
} from '../../quorum-protocol/keygen.js'
import { type P256Signer, verifyP256 } from '../../quorum-protocol/p256.js'
import { Refusal } from '../../quorum-protocol/refusal.js'
import type { Registry } from '../../quorum-protocol/registry.js'
import type { ShareSealer } from '../../quorum-protocol/sealed-shares.js'
import { requireWalletOf } from './own-cell.js'

export interface KeygenContext {
  /** The cell of the calling service. */
  readonly cell: Cell
  readonly registry: Registry
  readonly shares: ShareStore
  readonly signer: P256Signer
  readonly sealer: ShareSealer | null
  readonly evidence: EvidenceLog
}

/** The identity provider's side of key generation; `src/custody/README.md` has the sequence. */
export interface WalletKeygen {
  /**
   * Begins a key. An unfinished key of the same wallet becomes void: the service keeps the share of
   * only one waiting key.
   */
  commit(
    parameters: readonly unknown[],
    context: Pick<KeygenContext, 'shares' | 'cell'>,
  ): readonly unknown[]
  reveal(parameters: readonly unknown[]): readonly unknown[]
  prove(parameters: readonly unknown[], context: KeygenContext): Promise<readonly unknown[]>
  certify(parameters: readonly unknown[], context: KeygenContext): Promise<readonly unknown[]>
  status(parameters: readonly unknown[], shares: ShareStore): readonly unknown[] | null
}

interface Generation {
  readonly terms: KeygenTerms
  readonly serviceCommitment: Uint8Array
  readonly share: Buffer
  readonly own: KeygenReveal & { readonly commitment: Uint8Array }
  /** Set by the reveal. */
  transcript: Buffer | null
  servicePoint: Uint8Array | null
}

/** The bound of unfinished generations; the oldest is dropped for a new one. */
const GENERATIONS_MAX = 256
const GENERATION_LIFE_MS = 60_000

export function createWalletKeygen(): WalletKeygen {
  const open = new LRUCache<string, Generation>({
    max: GENERATIONS_MAX,
    ttl: GENERATION_LIFE_MS,
    dispose: (generation) => generation.share.fill(0),
  })

  function generationOf(sessionId: unknown): Generation {
    const generation = open.get(hex(expectBytes(sessionId, 16)))
    if (generation === undefined) throw new Refusal('CONFLICT', 'no such key generation')
    return generation
  }

  return {
    commit([sessionId, walletId, kind, ownerHash, commitment], { shares, cell }) {
      const terms: KeygenTerms = {
        sessionId: expectBytes(sessionId, 16),
        walletId: expectBytes(walletId, 16),
        kind: kindOf(Number(kind)),
        ownerHash: expectBytes(ownerHash, 32),
        epoch: 1,
      }
      requireWalletOf(cell, terms.walletId, terms.kind)
      const name = hex(terms.sessionId)
      // A second answer in one session could be chosen after seeing the other domain's point.
      if (open.has(name)) throw new Refusal('REPLAYED', 'key generation session')
      requireUnused(terms.walletId, shares)
      for (const [other, begun] of [...open]) {
        if (sameBytes(begun.terms.walletId, terms.walletId)) open.delete(other)
      }
      shares.dropWaiting(terms.walletId)
      const share = randomScalar()
      const reveal = { point: pointOf(share), nonce: randomBytes(32) }
      const own = { ...reveal, commitment: commitmentOf('user', reveal, terms.sessionId) }
      open.set(name, {
        terms,
        serviceCommitment: expectBytes(commitment, 32),
        share,
        own,
        transcript: null,
        servicePoint: null,
      })
      return [own.commitment]
    },

    reveal([sessionId, point, nonce]) {
      const generation = generationOf(sessionId)
      if (generation.transcript !== null) throw new Refusal('REPLAYED', 'reveal')
      const service = { point: expectBytes(point, 33), nonce: expectBytes(nonce, 32) }
      const commitment = commitmentOf('service', service, generation.terms.sessionId)
      if (!sameBytes(commitment, generation.serviceCommitment)) {
        throw new Refusal('UNAUTHENTIC', 'reveal does not match its commitment')
      }
      if (sameBytes(service.point, generation.own.point)) {
        throw new Refusal('UNAUTHENTIC', 'both sides have the same point')
      }
      generation.servicePoint = service.point
      generation.transcript = transcriptOf(
        generation.terms,
        { ...service, commitment },
        generation.own,
      )
      return [generation.own.point, generation.own.nonce]
    },

    async prove([sessionId, serviceProof], { shares, signer, sealer }) {
      const generation = generationOf(sessionId)
      const { terms, transcript, servicePoint, share, own } = generation
      if (transcript === null || servicePoint === null) throw new Refusal('CONFLICT', 'no reveal')
      if (sealer === null) throw new Refusal('NO_SESSION', 'quorum signer')
      checkShareProof('service', transcript, servicePoint, expectBytes(serviceProof, 65))
      requireUnused(terms.walletId, shares)
      const certificate = encodeCertificate({
        ...terms,
        servicePoint,
        userPoint: own.point,
        transcript,
      })
      shares.putPending(certificate, share)
      const userProof = proveShare('user', transcript, share)
      const sealed = sealer.seal(
        share,
        [selfTestDigest(certificate)],
        [addPoints(servicePoint, own.point)],
      )
      const request = await signer.sign(selfTestRequest(certificate, sealer.boot))
      open.delete(hex(terms.sessionId))
      return [userProof, request, sealed, sealer.boot]
    },

    async certify([walletId, certificate, serviceSignature, selfTest], context) {
      const { registry, shares, signer, evidence } = context
      const record = shares.get(expectBytes(walletId, 16))
      const encoded = expectBytes(certificate)
      if (record === null || !sameBytes(record.encodedCertificate, encoded)) {
        throw new Refusal('CONFLICT', 'certificate of another key')
      }
      const message = certificateMessage(encoded)
      const service = expectBytes(serviceSignature, 64)
      const coSigners = registry.keysOf('co_signers', Date.now())
      if (!coSigners.some((key) => verifyP256(key, message, service))) {
        throw new Refusal('UNAUTHENTIC', 'certificate')
      }
      const proof = expectBytes(selfTest, 65)
      if (!isSignedBy(walletPoint(record.certificate), selfTestDigest(encoded), proof)) {
        throw new Refusal('UNAUTHENTIC', 'self-test')
      }
      if (record.proofs !== null) return [record.proofs.userSignature]
      const userSignature = await signer.sign(message)
      const body = encodeWalletEvidence({
        certificate: encoded,
        serviceSignature: service,
        userSignature,
        selfTest: proof,
      })
      await evidence.append({ timeMs: Date.now(), kind: EVIDENCE_KIND.wallet, body })
      shares.activate(encoded, {
        serviceSignature: Buffer.from(service),
        userSignature,
        selfTest: Buffer.from(proof),
      })
      return [userSignature]
    },

    status([walletId], shares) {
      const record = shares.get(expectBytes(walletId, 16))
      if (record === null || record.proofs === null) return null
      const { serviceSignature, userSignature, selfTest } = record.proofs
      return [record.encodedCertificate, serviceSignature, userSignature, selfTest]
    },
  }
}

/** A key in use is never overwritten, because the wallet's funds would be lost. */
function requireUnused(walletId: Uint8Array, shares: ShareStore): void {
  const present = shares.get(walletId)
  if (present !== null && present.proofs !== null) {
    throw new Refusal('CONFLICT', 'wallet has its key')
  }
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}
