import { LRUCache } from 'lru-cache'
import type { WalletRecord } from '../../custody/domain-keys/wallet-record.js'
import { encodeWalletEvidence } from '../../custody/evidence/evidence-records.js'
import { EVIDENCE_KIND } from '../../custody/evidence/stored-evidence.js'
import { expectBytes, expectInteger, sameBytes } from '../../quorum-protocol/bytes.js'
import { addInto, isSignedBy, randomScalar } from '../../quorum-protocol/curve.js'
import {
  certificateMessage,
  selfTestDigest,
  selfTestRequest,
} from '../../quorum-protocol/keygen.js'
import { verifyP256 } from '../../quorum-protocol/p256.js'
import {
  refreshCommitment,
  refreshDelta,
  refreshedCertificate,
} from '../../quorum-protocol/refresh.js'
import { Refusal } from '../../quorum-protocol/refusal.js'
import { requireWalletOf } from './own-cell.js'
import type { KeygenContext } from './wallet-keygen.js'

/** The identity provider's side of a refresh; `src/custody/README.md` has the sequence. */
export interface ShareRefresh {
  /**
   * Begins a refresh. An unfinished one of the same wallet becomes void: the service keeps only one
   * next share.
   */
  begin(parameters: readonly unknown[], context: KeygenContext): readonly unknown[]
  prepare(parameters: readonly unknown[], context: KeygenContext): Promise<readonly unknown[]>
  certify(parameters: readonly unknown[], context: KeygenContext): Promise<readonly unknown[]>
}

interface Refresh {
  readonly walletId: Uint8Array
  readonly epoch: number
  readonly commitment: Uint8Array
  /** 32 bytes, wiped when the refresh is prepared or dropped. */
  readonly part: Buffer
}

/** The bound of unfinished refreshes; the oldest is dropped for a new one. */
const REFRESHES_MAX = 256
const REFRESH_LIFE_MS = 60_000

export function createShareRefresh(): ShareRefresh {
  const open = new LRUCache<string, Refresh>({
    max: REFRESHES_MAX,
    ttl: REFRESH_LIFE_MS,
    dispose: (refresh) => refresh.part.fill(0),
  })

  return {
    begin([sessionId, walletId, epoch, commitment], context) {
      const name = nameOf(sessionId)
      if (open.has(name)) throw new Refusal('REPLAYED', 'refresh session')
      const refresh = {
        walletId: expectBytes(walletId, 16),
        epoch: expectInteger(epoch),
        commitment: expectBytes(commitment, 32),
        part: randomScalar(),
      }
      const { kind } = activeRecord(refresh, context).certificate
      requireWalletOf(context.cell, refresh.walletId, kind)
      for (const [other, begun] of [...open]) {
        if (sameBytes(begun.walletId, refresh.walletId)) open.delete(other)
      }
      context.shares.dropWaiting(refresh.walletId)
      open.set(name, refresh)
      return [Buffer.from(refresh.part)]
    },

    async prepare([sessionId, servicePart, nonce], context) {
      const name = nameOf(sessionId)
      const refresh = open.get(name)
      if (refresh === undefined) throw new Refusal('CONFLICT', 'no such refresh')
      const { shares, signer, sealer } = context
      if (sealer === null) throw new Refusal('NO_SESSION', 'quorum signer')
      const id = expectBytes(sessionId, 16)
      const reveal = { part: expectBytes(servicePart, 32), nonce: expectBytes(nonce, 32) }
      if (!sameBytes(refreshCommitment(reveal, id), refresh.commitment)) {
        throw new Refusal('UNAUTHENTIC', 'reveal does not match its commitment')
      }
      const record = activeRecord(refresh, context)
      const delta = refreshDelta(reveal.part, refresh.part)
      open.delete(name)
      const share = shares.openShare(record)
      try {
        const { encoded } = refreshedCertificate(record.certificate, delta, id)
        addInto(share, delta)
        shares.putNext(encoded, share)
        const sealed = sealer.seal(share, [selfTestDigest(encoded)], [record.point])
        return [await signer.sign(selfTestRequest(encoded, sealer.boot)), sealed, sealer.boot]
      } finally {
        share.fill(0)
        delta.fill(0)
      }
    },

    async certify([walletId, certificate, serviceSignature, selfTest], context) {
      const { registry, shares, signer, evidence } = context
      const record = shares.get(expectBytes(walletId, 16))
      const encoded = expectBytes(certificate)
      if (record === null || record.proofs === null) {
        throw new Refusal('UNKNOWN_WALLET', 'no key to refresh')
      }
      if (sameBytes(record.encodedCertificate, encoded)) return [record.proofs.userSignature]
      if (record.next === null || !sameBytes(record.next.encodedCertificate, encoded)) {
        throw new Refusal('CONFLICT', 'certificate of another refresh')
      }
      const message = certificateMessage(encoded)
      const service = expectBytes(serviceSignature, 64)
      const coSigners = registry.keysOf('co_signers', Date.now())
      if (!coSigners.some((key) => verifyP256(key, message, service))) {
        throw new Refusal('UNAUTHENTIC', 'certificate')
      }
      const proof = expectBytes(selfTest, 65)
      // Verified with the same key, because the new shares make it as well.
      if (!isSignedBy(record.point, selfTestDigest(encoded), proof)) {
        throw new Refusal('UNAUTHENTIC', 'self-test')
      }
      const userSignature = await signer.sign(message)
      const body = encodeWalletEvidence({
        certificate: encoded,
        serviceSignature: service,
        userSignature,
        selfTest: proof,
      })
      await evidence.append({ timeMs: Date.now(), kind: EVIDENCE_KIND.wallet, body })
      shares.activateNext(encoded, {
        serviceSignature: Buffer.from(service),
        userSignature,
        selfTest: Buffer.from(proof),
      })
      return [userSignature]
    },
  }
}

function nameOf(sessionId: unknown): string {
  return Buffer.from(expectBytes(sessionId, 16)).toString('hex')
}

function activeRecord({ walletId, epoch }: Refresh, { shares }: KeygenContext): WalletRecord {
  const record = shares.get(walletId)
  if (record === null || record.proofs === null) {
    throw new Refusal('UNKNOWN_WALLET', 'no key to refresh')
  }
  if (record.certificate.epoch !== epoch) throw new Refusal('WRONG_EPOCH', 'share epoch')
  return record
}
