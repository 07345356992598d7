import type { ProcessIdentity } from './process-identity.js'

/** What the reaper tells its supervisor, once it hears when that is gone. */
export const LISTENING = 'listening'

/** What the supervisor tells its reaper. */
export type ReaperMessage =
  | { readonly type: 'watch'; readonly process: ProcessIdentity }
  | { readonly type: 'forget'; readonly pid: number }
  /** Everything was stopped in order; nothing is left to do. */
  | { readonly type: 'dismiss' }
