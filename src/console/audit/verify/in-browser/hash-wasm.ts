import { keccak_256 } from '@noble/hashes/sha3.js'

/**
 * Replaces hash-wasm in the worker, because the page's policy does not allow WebAssembly to be
 * compiled.
 */
export async function createKeccak() {
  return {
    init: () => ({
      update: (bytes: Uint8Array) => ({ digest: () => keccak_256(bytes) }),
    }),
  }
}
