import type { Socket } from 'node:net'

/**
 * Whoever stole the certificate of one machine keeps no other one out by it, and of that one he ends
 * what is oldest, never what comes back.
 */
export interface PlaceBounds {
  readonly ofOneCertificateMax: number
  readonly placesMax: number
}

/** Who is connected, by which certificate. Whoever comes has a place: another one makes it. */
export interface Places {
  /**
   * @param certificate its fingerprint
   * @returns who has to leave for it, and has no place any more: the oldest of its certificate where that
   * has too many, or of the one that has the most where all places are taken
   */
  enter(certificate: string, socket: Socket): Socket | null
  leave(certificate: string, socket: Socket): void
  all(): readonly Socket[]
}

export function createPlaces({ ofOneCertificateMax, placesMax }: PlaceBounds): Places {
  /** Each in the order in which they came; none is empty. */
  const places = new Map<string, Set<Socket>>()

  function leave(certificate: string, socket: Socket): void {
    const own = places.get(certificate)
    if (own?.delete(socket) && own.size === 0) places.delete(certificate)
  }

  function crowded(newcomers: string): string | null {
    if ((places.get(newcomers)?.size ?? 0) > ofOneCertificateMax) return newcomers
    const sizes = [...places].map(([certificate, { size }]) => ({ certificate, size }))
    if (sizes.reduce((sum, { size }) => sum + size, 0) <= placesMax) return null
    return sizes.reduce((most, each) => (each.size > most.size ? each : most)).certificate
  }

  return {
    enter(certificate, socket) {
      const own = places.get(certificate) ?? new Set()
      places.set(certificate, own.add(socket))
      const from = crowded(certificate)
      if (from === null) return null
      const [oldest = null] = places.get(from) ?? []
      if (oldest !== null) leave(from, oldest)
      return oldest
    },
    leave,
    all: () => [...places.values()].flatMap((sockets) => [...sockets]),
  }
}
