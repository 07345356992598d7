import type { SubWalletId } from '../domain/ids.js'

/**
 * Lets the main thread know, without asking, that a sub-wallet's actor has not moved since it was
 * last asked. The worker counts a wallet's slot up before each decision that could change its
 * state; wallets that share a slot only make each other look changed.
 *
 * A reader takes the version *before* it asks, and keeps the answer under it. While the slot still
 * holds that version, no decision has begun since, and the actor would answer the same.
 */

/** 256 KiB in all; the version of a slot wraps after 2^32 decisions. */
const SLOTS = 65_536

export interface WalletVersions {
  versionOf(id: SubWalletId): number
  /** To be called by the thread that owns the wallet, before its state may change. */
  willChange(id: SubWalletId): void
}

export function createWalletVersionsBuffer(): SharedArrayBuffer {
  return new SharedArrayBuffer(SLOTS * Int32Array.BYTES_PER_ELEMENT)
}

export function attachWalletVersions(buffer: SharedArrayBuffer): WalletVersions {
  const cells = new Int32Array(buffer)
  return {
    versionOf: (id) => Atomics.load(cells, slotOf(id)),
    willChange(id) {
      Atomics.add(cells, slotOf(id), 1)
    },
  }
}

/** FNV-1a over the UTF-16 units, folded to 16 bits. */
function slotOf(id: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < id.length; i++) hash = Math.imul(hash ^ id.charCodeAt(i), 0x01000193)
  return ((hash >>> 16) ^ hash) & (SLOTS - 1)
}
