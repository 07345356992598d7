import {
  type ApprovalTerm,
  approvalKeyProof,
  approvalTermMessage,
  encodeApprovalTerm,
  readApprovalTerm,
} from '../../src/custody/approvals/approval-term.js'
import {
  type AuthorizerCertificate,
  certificateMessage as authorizerMessage,
  decodeCertificate as decodeAuthorizer,
  decodeEntry,
  encodeCertificate as encodeAuthorizer,
  encodeEntry,
  entryMessage,
  registrationChallenge,
} from '../../src/custody/authorizers/certificate.js'
import {
  encodeFreezeStatement,
  freezeMessage,
  readFreezeStatement,
  subjectOfId,
} from '../../src/custody/authorizers/freeze-statement.js'
import { decodeProof, encodeProof } from '../../src/custody/authorizers/proof.js'
import { recoveryMessage } from '../../src/custody/authorizers/recovery.js'
import {
  decodeBatchEvidence,
  encodeBatchEvidence,
} from '../../src/custody/evidence/evidence-records.js'
import { chainHash } from '../../src/custody/evidence/stored-evidence.js'
import {
  encodeMemberStatement,
  memberMessage,
  readMemberStatement,
} from '../../src/custody/members/member-statement.js'
import { ALL_PARTITIONS } from '../../src/domain/cells.js'
import type { Hex } from '../../src/domain/ids.js'
import {
  approvalMessage,
  coSignMessage,
  decodeHeader,
  encodeHeader,
} from '../../src/quorum-protocol/batch.js'
import {
  decodeIntent,
  encodeIntent,
  type Intent,
  intentId,
} from '../../src/quorum-protocol/intent.js'
import {
  type Certificate,
  certificateMessage,
  decodeCertificate,
  encodeCertificate,
  selfTestDigest,
  selfTestRequest,
} from '../../src/quorum-protocol/keygen.js'
import { decodePayload, digestOf, encodePayload } from '../../src/quorum-protocol/payload.js'
import { bootMessage, offerMessage } from '../../src/quorum-protocol/quorum-session.js'
import { decodeLeadership, encodeLeadership } from '../../src/quorum-protocol/service-boot.js'
import type { SignPayload } from '../../src/quorum-protocol/sign-payload.js'
import { fromHex } from '../../src/quorum-protocol/transaction.js'

import {
  AT_MS,
  bytesFrom,
  messageOf,
  OTHER,
  OWNER_HASH,
  PAYEE,
  PROOF_KEY,
  type SignedForm,
  USDC,
  VENUE,
} from './signed-form.js'
import { SIGNED_GRANTS } from './signed-grants.js'

const AUTHORIZER: AuthorizerCertificate = {
  ...{ action: 'add', ownerHash: OWNER_HASH, sequence: 2, previous: bytesFrom(0x70, 32) },
  ...{ createdAtMs: AT_MS, nonce: bytesFrom(0x90, 16), kind: 'passkey', label: 'Téléphone' },
  ...{ authorizerId: bytesFrom(0xb0, 16), credentialId: bytesFrom(3, 20) },
  publicKey: bytesFrom(5, 77),
}
const PLAIN_AUTHORIZER: AuthorizerCertificate = {
  ...AUTHORIZER,
  ...{ action: 'remove', kind: 'p256', credentialId: Buffer.alloc(0), publicKey: bytesFrom(4, 65) },
}

function authorizerForm(name: string, certificate: AuthorizerCertificate): SignedForm {
  const bytes = encodeAuthorizer(certificate)
  return {
    ...{ name, bytes, message: authorizerMessage(bytes) },
    again: (encoded) => encodeAuthorizer(decodeAuthorizer(encoded)),
  }
}

const WALLET: Certificate = {
  ...{ walletId: bytesFrom(0x21, 16), kind: 'user', ownerHash: OWNER_HASH, epoch: 1 },
  ...{ servicePoint: bytesFrom(2, 33), userPoint: bytesFrom(3, 33) },
  transcript: bytesFrom(0x80, 32),
}
const ENCODED_WALLET = encodeCertificate(WALLET)

const TRANSACTION: SignPayload = {
  ...{ type: 'transaction', chainId: 8453, nonce: 7, to: USDC, value: 1_000n },
  data: `0xa9059cbb${PAYEE.slice(2).padStart(64, '0')}${'5'.padStart(64, '0')}`,
  ...{ gasLimit: 65_000n, maxFeePerGas: 2_000_000_000n, maxPriorityFeePerGas: 1_000_000n },
}
const word = (digit: string): Hex => `0x${digit.repeat(64)}`
const SPONSORED: SignPayload = {
  ...TRANSACTION,
  authorizationList: [
    { chainId: 8453, address: VENUE, nonce: 3, yParity: 1, r: word('6'), s: word('1') },
  ],
}
const AUTHORIZATION: SignPayload = {
  ...{ type: 'authorization', chainId: 8453, nonce: 3, delegate: VENUE },
}
const ROUTER_INTENT: SignPayload = {
  ...{ type: 'router-intent', chainId: 8453, verifyingContract: OTHER },
  intent: {
    ...{ account: PAYEE, tokenIn: USDC, amountIn: 5_000_000n, feeBps: 30, tokenOut: OTHER },
    ...{ minOut: 1n, target: VENUE, data: '0x04e45aaf0011', nonce: 9n, deadline: 1_790_000_600 },
  },
}

function payloadForm(name: string, payload: SignPayload): SignedForm {
  const { type, bytes } = encodePayload(payload)
  return {
    ...{ name, bytes, message: digestOf(type, bytes) },
    // That they are read at all: what is decoded has no encoder of its own.
    again: (encoded) => {
      decodePayload(type, encoded)
      return encoded
    },
  }
}

function intentForm(name: string, intent: Omit<Intent, 'keyProof'>, isProven: boolean): SignedForm {
  const proofKey = isProven ? PROOF_KEY : null
  const bytes = encodeIntent(intent, proofKey)
  return {
    ...{ name, bytes, message: intentId(bytes) },
    again: (encoded) => encodeIntent(decodeIntent(encoded), proofKey),
  }
}

function intentOf(payload: SignPayload): Omit<Intent, 'keyProof'> {
  const { type, bytes } = encodePayload(payload)
  return {
    ...{ type, walletId: bytesFrom(0x21, 16), keyId: bytesFrom(1, 16), grantId: bytesFrom(1, 16) },
    ...{ grantVersion: 3, epoch: 1, seq: 2 ** 33 + 5, expiresAtMs: AT_MS + 30_000 },
    ...{ requestId: bytesFrom(0xc0, 16), replaces: Buffer.alloc(32), approval: null },
    payload: bytes,
  }
}

const TERM: ApprovalTerm = {
  ...{ kind: 'transaction', approvalId: bytesFrom(0xd0, 16), walletId: bytesFrom(0x21, 16) },
  ...{ keyId: bytesFrom(1, 16), ownerHash: OWNER_HASH, chainId: 8453, to: fromHex(USDC) },
  ...{ value: 1_000n, hash: bytesFrom(0x33, 32), maxNativeWei: 130_000_000_000_000n },
  expiresAtMs: AT_MS + 3_600_000,
}
const ENCODED_TERM = encodeApprovalTerm(TERM)
const CALL_OF_INTENT = encodePayload(ROUTER_INTENT).bytes

const HEADER = {
  batchId: bytesFrom(0x11, 16),
  batchSeq: 2 ** 24 + 1,
  count: 2,
  kid: bytesFrom(9, 8),
}
const ENCODED_HEADER = encodeHeader(HEADER)
const IDS = [bytesFrom(0x50, 32), bytesFrom(0x51, 32)]
const BOOT = {
  ...{ boot: bytesFrom(0xe0, 16), publicKey: bytesFrom(0x17, 32), signature: bytesFrom(0x18, 64) },
}
const ENTRY = {
  ...{ certificate: encodeAuthorizer(AUTHORIZER), possession: bytesFrom(6, 40) },
  ...{ approval: bytesFrom(7, 81), userSignature: bytesFrom(8, 64) },
}
const EVIDENCE = encodeBatchEvidence({
  ...{ header: ENCODED_HEADER, intents: IDS, coSignature: bytesFrom(0x61, 64) },
  ...{ approval: bytesFrom(0x62, 64), bitmap: 3, quorumBoot: BOOT.boot },
})
const MEMBER = encodeMemberStatement({
  ...{ action: 'invite', role: 'approver', accountId: 'usr_1', sequence: 4, personId: 'usr_2' },
  ...{ email: 'ana@example.com', byId: 'usr_1', acceptBeforeMs: AT_MS, confirmBeforeMs: AT_MS + 1 },
})
const UNFREEZE = encodeFreezeStatement({
  ...{ action: 'unfreeze', scope: 'wallet', subject: subjectOfId(bytesFrom(0x21, 16)) },
  ...{ ownerHash: OWNER_HASH, sequence: 5, confirmBeforeMs: AT_MS },
})
const OWNER = { journal: 'ab'.repeat(16), epoch: 7 }

/** A proof of one kind. */
function proofForm(name: string, proof: Parameters<typeof encodeProof>[0]): SignedForm {
  const bytes = encodeProof(proof)
  return { name, bytes, message: bytes, again: (read) => encodeProof(decodeProof(read)) }
}

function ownerForm(name: string, owner: Parameters<typeof encodeLeadership>[0]): SignedForm {
  const bytes = encodeLeadership(owner)
  return { name, bytes, message: bytes, again: (read) => encodeLeadership(decodeLeadership(read)) }
}

/** Everything that is signed, hashed or proven between domains or by people, once in each form. */
export const SIGNED_FORMS: readonly SignedForm[] = [
  ...SIGNED_GRANTS,
  {
    ...{ name: 'wallet certificate', bytes: ENCODED_WALLET },
    message: certificateMessage(ENCODED_WALLET),
    again: (read) => encodeCertificate(decodeCertificate(read)),
  },
  messageOf('digest of a self-test', selfTestDigest(ENCODED_WALLET)),
  messageOf('request of a self-test', selfTestRequest(ENCODED_WALLET, BOOT.boot)),
  authorizerForm('certificate of a passkey', AUTHORIZER),
  authorizerForm('certificate of a P-256 key that is removed', PLAIN_AUTHORIZER),
  messageOf('challenge of a new passkey', registrationChallenge(AUTHORIZER)),
  messageOf('recovery of an authorizer', recoveryMessage(encodeAuthorizer(AUTHORIZER))),
  {
    ...{ name: 'entry of an authorizer', bytes: encodeEntry(ENTRY), message: entryMessage(ENTRY) },
    again: (read) => encodeEntry(decodeEntry(read)),
  },
  {
    ...{ name: 'statement of a member', bytes: MEMBER, message: memberMessage(MEMBER) },
    again: (read) => encodeMemberStatement(readMemberStatement(read).statement),
  },
  {
    ...{ name: 'lifting of a freeze', bytes: UNFREEZE, message: freezeMessage(UNFREEZE) },
    again: (read) => encodeFreezeStatement(readFreezeStatement(read).statement),
  },
  {
    ...{ name: 'approval of a call', bytes: ENCODED_TERM },
    message: approvalTermMessage(ENCODED_TERM),
    again: (read) => encodeApprovalTerm(readApprovalTerm(read).statement),
  },
  messageOf(
    'proof that a key asked for a call',
    approvalKeyProof(PROOF_KEY, TERM, bytesFrom(0, 4)),
  ),
  messageOf(
    'proof that a key asked for a sponsored call',
    approvalKeyProof(PROOF_KEY, { ...TERM, kind: 'intent', value: 0n }, CALL_OF_INTENT),
  ),
  payloadForm('transaction', TRANSACTION),
  payloadForm('transaction with an authorization', SPONSORED),
  payloadForm('authorization', AUTHORIZATION),
  payloadForm('Router intent', ROUTER_INTENT),
  intentForm('intent of a transaction', intentOf(TRANSACTION), true),
  intentForm('intent of an authorization', intentOf(AUTHORIZATION), true),
  intentForm('intent of a Router intent', intentOf(ROUTER_INTENT), true),
  intentForm(
    'intent of a replacement without the key',
    { ...intentOf(TRANSACTION), replaces: bytesFrom(0x55, 32) },
    false,
  ),
  intentForm(
    'intent that rests on an approval',
    {
      ...intentOf(TRANSACTION),
      approval: {
        ...{ approvalId: bytesFrom(0xd0, 16), expiresAtMs: AT_MS },
        maxNativeWei: 2n ** 100n,
      },
    },
    true,
  ),
  {
    ...{ name: 'header of a batch', bytes: ENCODED_HEADER },
    message: coSignMessage(ENCODED_HEADER, IDS),
    again: (read) => encodeHeader(decodeHeader(read)),
  },
  messageOf('approval of a batch', approvalMessage(bytesFrom(0x61, 64), 3, BOOT.boot)),
  messageOf('boot of the quorum signer', bootMessage(BOOT.boot, BOOT.publicKey)),
  messageOf('session of the service', offerMessage(BOOT, 'service', bytesFrom(0x19, 32))),
  messageOf('session of the user side', offerMessage(BOOT, 'user', bytesFrom(0x19, 32))),
  ownerForm('owner of a journal', { ...OWNER, cell: { number: 0, partitions: ALL_PARTITIONS } }),
  ownerForm('owner of a cell', { ...OWNER, cell: { number: 2, partitions: 0x00ff00 } }),
  proofForm('proof by the software authorizer', {
    ...{ kind: 'software', signature: bytesFrom(0x20, 64) },
  }),
  proofForm('proof by a P-256 key', {
    ...{ kind: 'p256', authorizerId: bytesFrom(0xb0, 16), signature: bytesFrom(0x20, 64) },
  }),
  proofForm('proof by a passkey', {
    ...{ kind: 'passkey', authorizerId: bytesFrom(0xb0, 16), authenticatorData: bytesFrom(1, 37) },
    ...{ clientDataJson: Buffer.from('{"type":"webauthn.get"}'), signature: bytesFrom(2, 70) },
  }),
  {
    ...{ name: 'evidence of a batch', bytes: EVIDENCE },
    message: chainHash(bytesFrom(0x44, 32), 2, 2 ** 33, EVIDENCE),
    again: (read) => encodeBatchEvidence(decodeBatchEvidence(read)),
  },
]
