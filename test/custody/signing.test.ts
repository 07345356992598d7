import { open } from 'lmdb'
import { parseTransaction, recoverAddress, recoverTransactionAddress } from 'viem'
import { hashAuthorization } from 'viem/utils'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { routerIntentDigest } from '../../src/contracts/router-intent.js'
import { serviceLayout } from '../../src/custody/domain-keys/layout.js'
import { ulidBytes } from '../../src/domain/ids.js'
import { keyIdOf, publicKeyFromRaw, verifyP256 } from '../../src/quorum-protocol/p256.js'
import { toHex } from '../../src/quorum-protocol/transaction.js'
import {
  DELEGATE,
  newWalletId,
  type Quorum,
  type ReadyWallet,
  ROUTER,
  readyWallet,
  requestOf,
  routerIntent,
  STRANGER,
  signed,
  startQuorum,
  transfer,
} from './harness.js'

let quorum: Quorum
let wallet: ReadyWallet

beforeAll(async () => {
  quorum = await startQuorum()
  wallet = await readyWallet(quorum)
})
afterAll(() => quorum?.close())

const NOBODY = '0x0000000000000000000000000000000000000000'

describe('signatures of the quorum', () => {
  test('a transaction is signed by the wallet’s own address and says what was asked', async () => {
    const { rawTransaction, txHash } = await signed(quorum, requestOf(wallet, transfer(0)))
    if (rawTransaction === undefined) throw new Error('no transaction')
    const from = await recoverTransactionAddress({
      serializedTransaction: rawTransaction as `0x02${string}`,
    })
    expect(from).toBe(wallet.address)
    expect(txHash).toMatch(/^0x[0-9a-f]{64}$/)
    expect(parseTransaction(rawTransaction)).toMatchObject({
      chainId: 8453,
      to: STRANGER,
      value: 1_000n,
      maxFeePerGas: 2_000_000_000n,
    })
  })

  test('an authorization of our delegate recovers to the wallet', async () => {
    const payload = { type: 'authorization', chainId: 1, nonce: 0, delegate: DELEGATE } as const
    const { signature } = await signed(quorum, requestOf(wallet, payload))
    const hash = hashAuthorization({ chainId: 1, nonce: 0, address: DELEGATE })
    expect(await recoverAddress({ hash, signature: ethereumSignature(signature) })).toBe(
      wallet.address,
    )
  })

  test('the end of a delegation needs no key, at a nonce that holds nothing', async () => {
    const ends = { type: 'authorization', chainId: 1, delegate: NOBODY } as const
    // Without a key nothing is signed far from what keys asked for.
    await signed(quorum, requestOf(wallet, { ...ends, delegate: DELEGATE, nonce: 39 }))
    const unasked = { keyId: null, proofKey: null }
    const request = requestOf(wallet, { ...ends, nonce: 40 })
    const { signature } = await signed(quorum, { ...request, ...unasked })
    const hash = hashAuthorization({ chainId: 1, nonce: 40, address: NOBODY })
    expect(await recoverAddress({ hash, signature: ethereumSignature(signature) })).toBe(
      wallet.address,
    )
    // Neither our own delegate, nor in the place of what was approved.
    const delegates = { ...ends, delegate: DELEGATE, nonce: 41 }
    const { intentId } = await signed(quorum, requestOf(wallet, delegates))
    for (const asked of [
      { ...requestOf(wallet, { ...delegates, nonce: 42 }), ...unasked },
      { ...requestOf(wallet, { ...ends, nonce: 41 }), ...unasked, replaces: intentId },
    ]) {
      expect(await quorum.coSigner.sign(asked)).toMatchObject({ ok: false, reason: 'REFUSED' })
    }
  })

  test('without a key, the same call is outbid, and nothing else takes its place', async () => {
    const first = await signed(quorum, requestOf(wallet, transfer(50)))
    const asked = (payload: ReturnType<typeof transfer>) =>
      quorum.coSigner.sign({
        ...requestOf(wallet, payload),
        ...{ proofKey: null, replaces: first.intentId },
      })
    const call = transfer(50)
    expect(await asked({ ...call, maxFeePerGas: call.maxFeePerGas - 1n })).toMatchObject({
      ...{ ok: false, reason: 'REFUSED', detail: 'UNDERPRICED' },
    })
    expect(await asked({ ...call, value: 1n })).toMatchObject({
      ...{ ok: false, reason: 'REFUSED', detail: 'STALE_GRANT' },
    })
    expect(await asked({ ...call, maxFeePerGas: call.maxFeePerGas * 2n })).toMatchObject({
      ok: true,
    })
  })

  test('a router intent has the wallet’s signature and a low-s co-signature', async () => {
    const intent = routerIntent(wallet.address)
    const outcome = await signed(
      quorum,
      requestOf(wallet, {
        type: 'router-intent',
        chainId: 8453,
        verifyingContract: ROUTER,
        intent,
      }),
    )
    const hash = routerIntentDigest(8453, ROUTER, intent)
    const signature = ethereumSignature(outcome.signature)
    expect(await recoverAddress({ hash, signature })).toBe(wallet.address)
    const { publicKey, signature: coSignature } = outcome.coSignature ?? {}
    const [key, digest] = [
      publicKeyFromRaw(publicKey ?? Buffer.alloc(0)),
      Buffer.from(hash.slice(2), 'hex'),
    ]
    expect(verifyP256(key, digest, coSignature ?? Buffer.alloc(0))).toBe(true)
    expect(Buffer.from(coSignature ?? []).readUInt8(32)).toBeLessThan(0x80)
    // The one that the registry names: the Router looks it up by this.
    const kid = keyIdOf(Buffer.from(publicKey ?? [])).toString('hex')
    expect(kid).toBe(quorum.coSigner.coSignerKid)
  })

  test('calls of one moment travel together and each gets its own signature', async () => {
    const nonces = Array.from({ length: 80 }, (_, index) => index + 100)
    const outcomes = await Promise.all(
      nonces.map((nonce) => signed(quorum, requestOf(wallet, transfer(nonce)))),
    )
    expect(new Set(outcomes.map((outcome) => outcome.txHash)).size).toBe(nonces.length)
  })

  test('creating a wallet twice gives the same address', async () => {
    const again = await quorum.coSigner.createWallet(wallet.walletId, quorum.userId)
    expect(again.address).toBe(wallet.address)
  })

  test('a wallet cannot be created for a second owner', async () => {
    await expect(quorum.coSigner.createWallet(wallet.walletId, 'mallory')).rejects.toThrow()
  })

  test('a gas wallet calls the Router and carries authorizations', async () => {
    const walletId = newWalletId()
    const { address } = await quorum.coSigner.createServiceWallet(walletId)
    const gas = { ...wallet, walletId, address }
    const service = { keyId: null, proofKey: null }
    const { signature } = await signed(
      quorum,
      requestOf(wallet, { type: 'authorization', chainId: 8453, nonce: 900, delegate: DELEGATE }),
    )
    const raw = await signed(
      quorum,
      requestOf(
        gas,
        transfer(0, {
          to: ROUTER,
          value: 0n,
          data: '0x1234',
          authorizationList: [
            {
              chainId: 8453,
              address: DELEGATE,
              nonce: 900,
              yParity: signature[64] === 1 ? 1 : 0,
              r: toHex(signature.subarray(0, 32)),
              s: toHex(signature.subarray(32, 64)),
            },
          ],
        }),
        service,
      ),
    )
    expect(
      await recoverTransactionAddress({
        serializedTransaction: raw.rawTransaction as `0x04${string}`,
      }),
    ).toBe(address)
  })
})

describe('a share of the service that does not open', () => {
  test('costs its own wallet signatures and nobody else', async () => {
    const hurt = await readyWallet(quorum)
    await quorum.coSigner.close()
    await flipShareOf(hurt)
    await quorum.connect()
    const sign = (of: ReadyWallet, nonce: number) =>
      quorum.coSigner.sign(requestOf(of, transfer(nonce)))
    // Their grants are known then, and what is asked for at once travels in one batch.
    await sign(hurt, 500)
    await sign(wallet, 500)
    const outcomes = await Promise.all(
      [hurt, wallet, hurt, wallet].map((of, index) => sign(of, 501 + index)),
    )
    expect(outcomes.map(({ ok }) => ok)).toEqual([false, true, false, true])
    expect(outcomes[0]).toMatchObject({ reason: 'UNAVAILABLE', detail: 'INTERNAL' })
  })
})

async function flipShareOf({ walletId }: ReadyWallet): Promise<void> {
  const { shares } = serviceLayout(quorum.home)
  const root = open({ path: shares, overlappingSync: false, maxDbs: 8 })
  const records = root.openDB<Buffer, Buffer>({
    name: '01-wallets',
    keyEncoding: 'binary',
    encoding: 'binary',
  })
  const name = Buffer.from(ulidBytes(walletId))
  const record = Buffer.from(records.get(name) ?? '')
  // Inside the sealed share, after its key's id and nonce.
  const at = record.indexOf(Buffer.from('share')) + 30
  record[at] = (record[at] ?? 0) ^ 1
  await records.put(name, record)
  await root.close()
}

function ethereumSignature(signature: Uint8Array) {
  return toHex(Uint8Array.from([...signature.subarray(0, 64), 27 + (signature[64] ?? 0)]))
}
