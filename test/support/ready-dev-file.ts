import type { DevFile } from '../../scripts/dev/dev-file.js'

/** `dev.json` of an instance both of whose keys work, like most that tests start. */
export interface ReadyDevFile extends DevFile {
  readonly keys: Readonly<Record<'trade' | 'read', NonNullable<DevFile['keys']['trade']>>>
}
