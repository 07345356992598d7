import {
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  type KeyObject,
  randomUUID,
} from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { p256 } from '@noble/curves/nist.js'

/**
 * A KMS on loopback. It implements the four operations of `kms-client.ts` and keeps its keys. None
 * of its answers holds a private key, and no operation returns one.
 */
export interface FakeKms {
  readonly url: string
  readonly authorization: string
  /** Every answer body so far, so that a test can look for what must not be in it. */
  readonly answers: readonly string[]
  close(): Promise<void>
}

interface StoredKey {
  readonly usage: 'SIGN_VERIFY' | 'KEY_AGREEMENT'
  readonly privateKey: KeyObject
}

export async function startFakeKms(): Promise<FakeKms> {
  const keys = new Map<string, StoredKey>()
  const answers: string[] = []
  const authorization = `Bearer ${randomUUID()}`

  function keyFor(body: Record<string, string>, usage?: StoredKey['usage']): StoredKey {
    const key = keys.get(String(body.KeyId))
    if (key === undefined) throw new Error('NotFoundException')
    if (usage !== undefined && key.usage !== usage) throw new Error('InvalidKeyUsageException')
    return key
  }

  const operations: Record<string, (body: Record<string, string>) => object> = {
    CreateKey(body) {
      if (body.KeySpec !== 'ECC_NIST_P256') throw new Error('ValidationException')
      const keyId = randomUUID()
      const usage = body.KeyUsage === 'KEY_AGREEMENT' ? 'KEY_AGREEMENT' : 'SIGN_VERIFY'
      const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
      keys.set(keyId, { usage, privateKey })
      return { KeyMetadata: { KeyId: keyId, KeyUsage: usage } }
    },
    GetPublicKey(body) {
      const der = createPublicKey(keyFor(body).privateKey).export({ type: 'spki', format: 'der' })
      return { PublicKey: der.toString('base64') }
    },
    Sign(body) {
      const { privateKey } = keyFor(body, 'SIGN_VERIFY')
      const digest = Buffer.from(String(body.Message), 'base64')
      if (body.MessageType !== 'DIGEST' || digest.length !== 32)
        throw new Error('ValidationException')
      return { Signature: signDigest(privateKey, digest).toString('base64') }
    },
    DeriveSharedSecret(body) {
      const { privateKey } = keyFor(body, 'KEY_AGREEMENT')
      const der = Buffer.from(String(body.PublicKey), 'base64')
      const publicKey = createPublicKey({ key: der, format: 'der', type: 'spki' })
      return { SharedSecret: diffieHellman({ privateKey, publicKey }).toString('base64') }
    },
  }

  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const answer = (status: number, body: object) => {
        const text = JSON.stringify(body)
        answers.push(text)
        response.writeHead(status, { 'content-type': 'application/x-amz-json-1.1' }).end(text)
      }
      if (request.headers.authorization !== authorization) {
        answer(400, { __type: 'AccessDeniedException' })
        return
      }
      const name = String(request.headers['x-amz-target']).replace('TrentService.', '')
      try {
        const operation = operations[name]
        if (operation === undefined) throw new Error('UnknownOperationException')
        answer(200, operation(JSON.parse(Buffer.concat(chunks).toString('utf8'))))
      } catch (error) {
        answer(400, { __type: (error as Error).message })
      }
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/`,
    authorization,
    answers,
    close() {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}

/** Signs a digest as it is and returns DER; node:crypto would hash the digest once more. */
function signDigest(privateKey: KeyObject, digest: Buffer): Buffer {
  const scalar = Buffer.from(String(privateKey.export({ format: 'jwk' }).d), 'base64url')
  return Buffer.from(p256.sign(digest, scalar, { prehash: false, format: 'der' }))
}
