import { keccak_256 } from '@noble/hashes/sha3.js'

/** In the place of hash-wasm in the worker: the page's policy lets no WebAssembly be compiled. */
export async function createKeccak() {
  return {
    init: () => ({
      update: (bytes: Uint8Array) => ({ digest: () => keccak_256(bytes) }),
    }),
  }
}
