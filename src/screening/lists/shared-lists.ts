/**
 * Carries lists from the thread that owns them to the threads that screen. The owner posts the new
 * publication first and raises the sequence number second, so a reader that sees the new number
 * finds the message in its port's queue and uses it before it screens: once `publish` returns, no
 * thread screens with the older lists.
 */
import { MessageChannel, type MessagePort, receiveMessageOnPort } from 'node:worker_threads'
import { openAddressSet } from '../set/address-set.js'
import type { ListsReader, OpenLists, Publication } from './published-lists.js'

/** Passed to one worker thread in its workerData; `port` belongs in its transferList. */
export interface SharedLists {
  readonly sequence: SharedArrayBuffer
  readonly port: MessagePort
  readonly publication: Publication
}

export class ListsPublisher {
  readonly #sequence = new SharedArrayBuffer(4)
  readonly #ports = new Set<MessagePort>()
  #publication: Publication
  #open: OpenLists

  constructor(first: Omit<Publication, 'sequence'>) {
    this.#publication = { ...first, sequence: 1 }
    this.#open = open(this.#publication)
    Atomics.store(new Int32Array(this.#sequence), 0, 1)
  }

  get current(): OpenLists {
    return this.#open
  }

  publish(next: Omit<Publication, 'sequence'>): void {
    this.#publication = { ...next, sequence: this.#publication.sequence + 1 }
    this.#open = open(this.#publication)
    for (const port of this.#ports) port.postMessage(this.#publication)
    Atomics.store(new Int32Array(this.#sequence), 0, this.#publication.sequence)
  }

  /** One share serves one thread; a thread that is started again needs a new one. */
  share(): SharedLists {
    const { port1, port2 } = new MessageChannel()
    this.#ports.add(port1)
    port1.on('close', () => this.#ports.delete(port1))
    port1.unref()
    return { sequence: this.#sequence, port: port2, publication: this.#publication }
  }

  close(): void {
    for (const port of this.#ports) port.close()
    this.#ports.clear()
  }
}

/** Opens, in a worker thread, what the owner shared with it. */
export function attachLists(shared: SharedLists): ListsReader {
  const sequence = new Int32Array(shared.sequence)
  let lists = open(shared.publication)
  const adopt = (publication: Publication) => {
    if (publication.sequence > lists.sequence) lists = open(publication)
  }
  // Also received when idle, so that a thread that screens nothing does not pile up old sets.
  shared.port.on('message', adopt)
  shared.port.unref()
  return {
    current() {
      for (;;) {
        if (lists.sequence >= Atomics.load(sequence, 0)) return lists
        const received = receiveMessageOnPort(shared.port)
        // The number rises after the message is posted: without a message the port itself is
        // closed.
        if (received === undefined) return null
        adopt(received.message as Publication)
      }
    },
    close() {
      shared.port.close()
    },
  }
}

function open(publication: Publication): OpenLists {
  const { buffer, ...rest } = publication
  return { ...rest, set: openAddressSet(buffer) }
}
