import { fnv1a } from './fnv1a.js'
import type { UserId } from './ids.js'
import { PARTITION_COUNT, partitionOf } from './partition.js'

/**
 * A cluster has one leader for all users, or several, each for the users of some partitions. A cell
 * is those users, their store and journal, the service that leads it and its standbys. A failure in
 * one cell affects only that cell's users.
 */
export interface Cell {
  /** Counts from 0, in the order in which the cells are listed. */
  readonly number: number
  /** Bit p is set when the cell has the users of partition p. */
  readonly partitions: number
}

/** All cells; together they have each partition exactly once. */
export interface Cells {
  readonly own: Cell
  readonly all: readonly Cell[]
}

export const CELLS_MAX = PARTITION_COUNT
export const ALL_PARTITIONS = 2 ** PARTITION_COUNT - 1

/** The cell of a service that has every user. */
export const ONE_CELL: Cell = { number: 0, partitions: ALL_PARTITIONS }

export function hasPartition({ partitions }: Cell, partition: number): boolean {
  return (partitions & (1 << partition)) !== 0
}

export function overlaps(one: Cell, other: Cell): boolean {
  return (one.partitions & other.partitions) !== 0
}

export function hasUser(cell: Cell, userId: UserId): boolean {
  return hasPartition(cell, partitionOf(userId))
}

/** @throws Error when no cell has the partition */
export function cellOf({ all }: Cells, partition: number): Cell {
  const cell = all.find((it) => hasPartition(it, partition))
  if (cell === undefined) throw new Error(`partition ${partition} is in no cell`)
  return cell
}

/**
 * The partition of the user of the key whose secret this is; a secret is chosen to give that
 * partition. Any node can therefore forward a request without the user's records. It reveals four
 * and a half of a secret's 192 bits.
 */
export function partitionOfSecret(secret: string): number {
  return fnv1a(secret) % PARTITION_COUNT
}

/** The form that people write: `0-11,13`. */
export function formatPartitions({ partitions }: Cell): string {
  const runs: string[] = []
  for (let first = 0; first < PARTITION_COUNT; first++) {
    if ((partitions & (1 << first)) === 0) continue
    let last = first
    while (last + 1 < PARTITION_COUNT && (partitions & (1 << (last + 1))) !== 0) last++
    runs.push(first === last ? `${first}` : `${first}-${last}`)
    first = last
  }
  return runs.join(',')
}

const RANGE = /^(\d{1,2})(?:-(\d{1,2}))?$/

/** @returns the bits, or null when the text is not a list of partitions or names one twice */
export function parsePartitions(text: string): number | null {
  let partitions = 0
  for (const part of text.split(',')) {
    const [, first, last = first] = RANGE.exec(part.trim()) ?? []
    if (first === undefined || Number(last) < Number(first)) return null
    if (Number(last) >= PARTITION_COUNT) return null
    for (let partition = Number(first); partition <= Number(last); partition++) {
      if ((partitions & (1 << partition)) !== 0) return null
      partitions |= 1 << partition
    }
  }
  return partitions
}
