import { randomBytes } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { ShareStore } from '../../custody/domain-keys/share-store.js'
import type { EvidenceLog } from '../../custody/evidence/evidence-log.js'
import { encodeWalletEvidence } from '../../custody/evidence/evidence-records.js'
import { EVIDENCE_KIND } from '../../custody/evidence/stored-evidence.js'
import type { Cell } from '../../domain/cells.js'
import { sameBytes } from '../../quorum-protocol/bytes.js'
import { addPoints, isSignedBy, pointOf, randomScalar } from '../../quorum-protocol/curve.js'
import {
  certificateMessage,
  checkShareProof,
  commitmentOf,
  encodeCertificate,
  type KeygenReveal,
  type KeygenTerms,
  proveShare,
  selfTestDigest,
  selfTestRequest,
  transcriptOf,
  walletPoint,
} from '../../quorum-protocol/keygen.js'
import type { FieldsOf, ResultsOf } from '../../quorum-protocol/methods/method.js'
import type { WALLETS } from '../../quorum-protocol/methods/wallets.js'
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
    fields: Fields['keygen-commit'],
    context: Pick<KeygenContext, 'shares' | 'cell'>,
  ): Results['keygen-commit']
  reveal(fields: Fields['keygen-reveal']): Results['keygen-reveal']
  prove(fields: Fields['keygen-prove'], context: KeygenContext): Promise<Results['keygen-prove']>
  certify(
    fields: Fields['keygen-certify'],
    context: KeygenContext,
  ): Promise<Results['keygen-certify']>
  status(fields: Fields['keygen-status'], shares: ShareStore): Results['keygen-status']
}

type Fields = FieldsOf<typeof WALLETS>
type Results = ResultsOf<typeof WALLETS>

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

  function generationOf(sessionId: Uint8Array): Generation {
    const generation = open.get(hex(sessionId))
    if (generation === undefined) throw new Refusal('CONFLICT', 'no such key generation')
    return generation
  }

  return {
    commit({ commitment, ...wanted }, { shares, cell }) {
      const terms: KeygenTerms = { ...wanted, epoch: 1 }
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
        serviceCommitment: commitment,
        share,
        own,
        transcript: null,
        servicePoint: null,
      })
      return { commitment: own.commitment }
    },

    reveal({ sessionId, ...service }) {
      const generation = generationOf(sessionId)
      if (generation.transcript !== null) throw new Refusal('REPLAYED', 'reveal')
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
      return generation.own
    },

    async prove({ sessionId, proof }, { shares, signer, sealer }) {
      const generation = generationOf(sessionId)
      const { terms, transcript, servicePoint, share, own } = generation
      if (transcript === null || servicePoint === null) throw new Refusal('CONFLICT', 'no reveal')
      if (sealer === null) throw new Refusal('NO_SESSION', 'quorum signer')
      checkShareProof('service', transcript, servicePoint, proof)
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
      return { proof: userProof, request, share: sealed, boot: sealer.boot }
    },

    async certify({ walletId, certificate, serviceSignature, selfTest }, context) {
      const { registry, shares, signer, evidence } = context
      const record = shares.get(walletId)
      if (record === null || !sameBytes(record.encodedCertificate, certificate)) {
        throw new Refusal('CONFLICT', 'certificate of another key')
      }
      const message = certificateMessage(certificate)
      const coSigners = registry.keysOf('co_signers', Date.now())
      if (!coSigners.some((key) => verifyP256(key, message, serviceSignature))) {
        throw new Refusal('UNAUTHENTIC', 'certificate')
      }
      if (!isSignedBy(walletPoint(record.certificate), selfTestDigest(certificate), selfTest)) {
        throw new Refusal('UNAUTHENTIC', 'self-test')
      }
      if (record.proofs !== null) return { userSignature: record.proofs.userSignature }
      const userSignature = await signer.sign(message)
      const body = encodeWalletEvidence({
        certificate,
        serviceSignature,
        userSignature,
        selfTest,
      })
      await evidence.append({ timeMs: Date.now(), kind: EVIDENCE_KIND.wallet, body })
      shares.activate(certificate, {
        serviceSignature: Buffer.from(serviceSignature),
        userSignature,
        selfTest: Buffer.from(selfTest),
      })
      return { userSignature }
    },

    status({ walletId }, shares) {
      const record = shares.get(walletId)
      if (record === null || record.proofs === null) return null
      return { certificate: record.encodedCertificate, ...record.proofs }
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
