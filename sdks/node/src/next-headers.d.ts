/** What the helper for Next.js uses of it, so that the package is built without Next.js. */
declare module "next/headers.js" {
  export function cookies(): Promise<{ get(name: string): { value: string } | undefined }>;
}
