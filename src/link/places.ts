import type { Socket } from 'node:net'

/**
 * Bounds connections per certificate and in total. A thief of one machine's certificate keeps no
 * other machine out, and ends only that machine's oldest connections, never its new ones.
 */
export interface PlaceBounds {
  readonly ofOneCertificateMax: number
  readonly placesMax: number
}

/** The connections by certificate. A new connection always gets a place: another one makes room. */
export interface Places {
  /**
   * @param certificate the certificate's fingerprint
   * @returns the connection that has to leave and no longer has a place: the oldest with the same
   * certificate if that has too many, or the oldest of the largest group if all places are taken
   */
  enter(certificate: string, socket: Socket): Socket | null
  leave(certificate: string, socket: Socket): void
  all(): readonly Socket[]
}

export function createPlaces({ ofOneCertificateMax, placesMax }: PlaceBounds): Places {
  /** Connections per certificate, never empty, in the order of arrival. */
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
