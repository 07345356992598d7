import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Timers } from '../clock/timers.js'
import { readPrivateFile, writePrivateFile } from '../custody/domain-keys/private-file.js'
import { SERVICE_BOOT_BYTES } from '../quorum-protocol/service-boot.js'

/** Returns a new random boot id for a starting service. */
export function newServiceBoot({ random }: Pick<Timers, 'random'>): Buffer {
  return Buffer.from(random.bytes(SERVICE_BOOT_BYTES))
}

/**
 * Stores the boot id for commands that act as part of the running service. A service with a journal
 * stores it only after it has acquired leadership: a command would otherwise announce the boot for
 * the leader that the store still names.
 */
export function keepServiceBoot(home: string, boot: Buffer): void {
  writePrivateFile(pathIn(home), boot)
}

/** Returns the boot id of the service that last started on this home; a new one if none did. */
export function lastServiceBoot(home: string, timers: Pick<Timers, 'random'>): Buffer {
  if (existsSync(pathIn(home))) return readPrivateFile(pathIn(home))
  const boot = newServiceBoot(timers)
  keepServiceBoot(home, boot)
  return boot
}

function pathIn(home: string): string {
  return join(home, 'service', 'custody', 'boot')
}
