import { diffieHellman, generateKeyPairSync } from 'node:crypto'
import {
  copyFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { SIGNING_KEY_FILE } from '../../src/custody/key-stores/file-key-store.js'
import type { KeyStore } from '../../src/custody/key-stores/key-store.js'
import { openKeyStore } from '../../src/custody/key-stores/open-key-store.js'
import { disownSigners } from '../../src/custody/key-stores/own-signers.js'
import { makeWrappingKey, readWrappingKey } from '../../src/custody/key-stores/wrapping-key.js'
import { publicKeyFromRaw, rawPublicKey, verifyP256 } from '../../src/quorum-protocol/p256.js'

/**
 * What the domains rely on, whatever holds the keys.
 * @param newDirectory makes a directory of keys for a new, empty store of that kind
 */
export function describeKeyStore(kind: KeyStore['kind'], newDirectory: () => string): void {
  describe(`keys in ${kind}`, () => {
    test('sign what their own public key verifies, many at once', async () => {
      const store = await openKeyStore(newDirectory(), 'allowed')
      expect(store.kind).toBe(kind)
      expect(await store.signers()).toEqual([])
      const signer = await store.makeSigner()
      const messages = Array.from({ length: 24 }, (_, index) => Buffer.from(`message ${index}`))
      const signatures = await Promise.all(messages.map((message) => signer.sign(message)))
      const key = publicKeyFromRaw(signer.publicKey)
      for (const [index, message] of messages.entries()) {
        const signature = signatures[index] ?? Buffer.alloc(0)
        expect(verifyP256(key, message, signature)).toBe(true)
        expect(verifyP256(key, Buffer.concat([message, Buffer.of(0)]), signature)).toBe(false)
      }
      await store.close()
    })

    test('are there again after a restart, each under its id', async () => {
      const directory = newDirectory()
      const before = await openKeyStore(directory, 'allowed')
      const ids = [await before.makeSigner(), await before.makeSigner()].map(({ kid }) => kid)
      await before.close()
      const after = await openKeyStore(directory, 'allowed')
      const found = await after.signers()
      expect(found.map(({ kid }) => kid.toString('hex')).sort()).toEqual(
        ids.map((kid) => kid.toString('hex')).sort(),
      )
      for (const signer of found) {
        const signature = await signer.sign(Buffer.from('again'))
        expect(
          verifyP256(publicKeyFromRaw(signer.publicKey), Buffer.from('again'), signature),
        ).toBe(true)
      }
      await after.close()
    })

    test('that are removed are gone, and only they', async () => {
      const store = await openKeyStore(newDirectory(), 'allowed')
      const first = await store.makeSigner()
      const second = await store.makeSigner()
      await store.removeSigner(first.kid)
      await store.removeSigner(Buffer.alloc(8))
      expect((await store.signers()).map(({ kid }) => kid)).toEqual([second.kid])
      await store.close()
    })

    test('are another machine’s own in a home made of this one, which opens the same shares', async () => {
      const directory = newDirectory()
      const store = await openKeyStore(directory, 'allowed')
      const wrapping = join(directory, 'wrapping.key')
      await makeWrappingKey(wrapping, store)
      const { kid } = await store.makeSigner()

      const other = mkdtempSync(join(tmpdir(), 'cs-other-node-'))
      onTestFinished(() => rmSync(other, { recursive: true, force: true }))
      for (const name of readdirSync(directory).filter((each) => !SIGNING_KEY_FILE.test(each))) {
        copyFileSync(join(directory, name), join(other, name))
      }
      disownSigners(other)
      const otherStore = await openKeyStore(other, 'allowed')
      expect(await otherStore.signers()).toEqual([])
      const own = await otherStore.makeSigner()
      expect(own.kid).not.toEqual(kid)
      const kidsOf = async (of: KeyStore) => (await of.signers()).map((signer) => signer.kid)
      expect([await kidsOf(store), await kidsOf(otherStore)]).toEqual([[kid], [own.kid]])
      expect(await readWrappingKey(join(other, 'wrapping.key'), otherStore)).toEqual(
        await readWrappingKey(wrapping, store),
      )
      // What ends there takes nothing here along.
      await otherStore.removeSigner(own.kid)
      expect(await kidsOf(store)).toEqual([kid])
      await store.close()
      await otherStore.close()
    })

    test('agree on the secret that the other end computes', async () => {
      const store = await openKeyStore(newDirectory(), 'allowed')
      expect(await store.agreementKey()).toBeNull()
      const key = await store.makeAgreementKey()
      await expect(store.makeAgreementKey()).rejects.toThrow(/already/)
      const peer = generateKeyPairSync('ec', { namedCurve: 'P-256' })
      const expected = diffieHellman({
        privateKey: peer.privateKey,
        publicKey: publicKeyFromRaw(key.publicKey),
      })
      expect(await key.agree(rawPublicKey(peer.publicKey))).toEqual(expected)
      await expect(key.agree(Buffer.alloc(65, 4))).rejects.toThrow()
      expect((await store.agreementKey())?.publicKey).toEqual(key.publicKey)
      await store.close()
    })

    test('open the wrapping key that was sealed to them, and no other store does', async () => {
      const directory = newDirectory()
      const store = await openKeyStore(directory, 'allowed')
      const path = join(directory, 'wrapping.key')
      await makeWrappingKey(path, store)
      expect(statSync(path).mode & 0o077).toBe(0)
      const opened = await readWrappingKey(path, store)
      expect(opened).toHaveLength(32)
      expect(readFileSync(path).includes(opened)).toBe(kind === 'files')
      if (kind !== 'files') {
        const other = await openKeyStore(newDirectory(), 'allowed')
        await other.makeAgreementKey()
        await expect(readWrappingKey(path, other)).rejects.toThrow(/sealed to another key/)
        writeFileSync(path, opened, { mode: 0o600 })
        await expect(readWrappingKey(path, store)).rejects.toThrow(/not sealed/)
        await other.close()
      }
      await store.close()
    })
  })
}
