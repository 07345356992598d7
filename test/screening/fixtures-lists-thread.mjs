/** A thread as an actor shard is: attaches to the lists, and may be too busy to take messages until it is let go. */
import { parentPort, workerData } from 'node:worker_threads'
import { attachLists } from '../../dist/src/screening/lists/shared-lists.js'
import { parseListedAddress } from '../../dist/src/screening/set/address-bytes.js'
import { findEntry } from '../../dist/src/screening/set/address-set.js'

const lists = attachLists(workerData.shared)

parentPort?.on('message', ({ busy }) => {
  if (busy !== null) {
    Atomics.store(busy, 0, 1)
    Atomics.wait(busy, 0, 1)
  }
  const open = lists.current()
  const found = workerData.addresses.map((/** @type {string} */ address) => {
    const bytes = parseListedAddress(address)
    return open !== null && bytes !== null && findEntry(open.set, bytes, 0) >= 0
  })
  parentPort?.postMessage({ sequence: open?.sequence ?? null, found })
})
