import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Timers } from '../clock/timers.js'
import { readPrivateFile, writePrivateFile } from '../custody/domain-keys/private-file.js'
import { SERVICE_BOOT_BYTES } from '../quorum-protocol/service-boot.js'

/**
 * A boot of its own for a service that starts on this home, kept for commands that act as a part
 * of that service next to it.
 */
export function newServiceBoot(home: string, { random }: Pick<Timers, 'random'>): Buffer {
  const boot = Buffer.from(random.bytes(SERVICE_BOOT_BYTES))
  writePrivateFile(pathIn(home), boot)
  return boot
}

/** Of the service that last started on this home; a new one where none ever did. */
export function lastServiceBoot(home: string, timers: Pick<Timers, 'random'>): Buffer {
  return existsSync(pathIn(home)) ? readPrivateFile(pathIn(home)) : newServiceBoot(home, timers)
}

function pathIn(home: string): string {
  return join(home, 'service', 'custody', 'boot')
}
