import { registryPath, serviceLayout } from '../custody/domain-keys/layout.js'
import { openRegistryFile } from '../custody/domain-keys/registry-file.js'
import { chooseSigner } from '../custody/key-stores/choose-signer.js'
import type { KeyStore } from '../custody/key-stores/key-store.js'
import { openKeyStore } from '../custody/key-stores/open-key-store.js'
import { fileKeysOf } from '../custody/process-environment.js'

/**
 * Whether the service of a home could sign, for a standby: one that has the journal and signs nothing
 * lives on, and so nobody who could sign would take it over.
 */
export interface SigningCheck {
  /** Of the registry and the keys as they are now. @returns null: it could sign; else why not */
  hindrance(): Promise<string | null>
  close(): Promise<void>
}

export function openSigningCheck(
  home: string,
  mode: 'dev' | 'live',
  nowMs: () => number,
): SigningCheck {
  const layout = serviceLayout(home)
  let store: KeyStore | null = null
  return {
    async hindrance() {
      try {
        const { current } = openRegistryFile(registryPath(home), layout.rootKey, mode)
        store ??= await openKeyStore(layout.keys, fileKeysOf(mode, process.env))
        await chooseSigner(store, 'co_signers', current, nowMs())
        return null
      } catch (error) {
        return error instanceof Error ? error.message : String(error)
      }
    },
    async close() {
      await store?.close()
    },
  }
}
