import { registryPath, serviceLayout, userSideLayout } from '../domain-keys/layout.js'
import { openRegistryFile } from '../domain-keys/registry-file.js'
import { fileKeysOf } from '../process-environment.js'
import { chooseSigner } from './choose-signer.js'
import type { KeyStore } from './key-store.js'
import { openKeyStore } from './open-key-store.js'

/**
 * Tells whether a domain could sign in this home, for a standby: a leader that cannot sign stays
 * alive, so nobody who could sign would take over.
 */
export interface SigningCheck {
  /**
   * Checks the registry and the keys as they are now.
   * @returns null when it could sign; otherwise the reason
   */
  hindrance(): Promise<string | null>
  close(): Promise<void>
}

export function openSigningCheck(
  home: string,
  domain: 'service' | 'user',
  mode: 'dev' | 'live',
  nowMs: () => number,
): SigningCheck {
  const layout = domain === 'service' ? serviceLayout(home) : userSideLayout(home)
  const role = domain === 'service' ? 'co_signers' : 'approvers'
  let store: KeyStore | null = null
  return {
    async hindrance() {
      try {
        const { current } = openRegistryFile(registryPath(home), layout.rootKey, mode)
        store ??= await openKeyStore(layout.keys, fileKeysOf(mode, process.env))
        await chooseSigner(store, role, current, nowMs())
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
