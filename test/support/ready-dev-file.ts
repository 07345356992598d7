import type { DevFile } from '../../scripts/dev/dev-file.js'

/** `dev.json` of an instance of which both keys work, as of most that tests start. */
export interface ReadyDevFile extends DevFile {
  readonly keys: Readonly<Record<'trade' | 'read', NonNullable<DevFile['keys']['trade']>>>
}
