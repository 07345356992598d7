/**
 * The free space below which a domain starts nothing new. Work in progress at full load ends within
 * a minute and writes some megabytes; the rest is for logs and for files that are rewritten
 * (snapshots, imported lists).
 */
export const DISK_FLOOR_MIB = 256
/** One tebibyte. */
export const DISK_FLOOR_MIB_MAX = 1_048_576
export const DISK_FLOOR_VARIABLE = 'COUNTERSIGN_DISK_FREE_MIN_MIB'
export const BYTES_PER_MIB = 1024 * 1024

/** @throws Error that names the variable, unless it is unset or a whole number of MiB */
export function diskFloorBytes(env: Readonly<Record<string, string | undefined>>): number {
  const text = env[DISK_FLOOR_VARIABLE] ?? ''
  const mib = text === '' ? DISK_FLOOR_MIB : Number(text)
  if (!Number.isInteger(mib) || mib < 1 || mib > DISK_FLOOR_MIB_MAX) {
    throw new Error(`${DISK_FLOOR_VARIABLE} must be a whole number of MiB, at least 1`)
  }
  return mib * BYTES_PER_MIB
}
