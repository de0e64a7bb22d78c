/** Limits of images. The page imports them too, so this file imports nothing. */

/** The most bytes of one image, decoded. */
export const MAX_IMAGE_BYTES = 20 * 1024 * 1024

/** The most images of one request. */
export const MAX_IMAGES = 10

/** The largest seed. */
export const MAX_SEED = 2_147_483_647
