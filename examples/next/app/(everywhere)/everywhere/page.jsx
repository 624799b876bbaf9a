/** A page whose layout loads the tracker. */
export default function Page() {
  return <h1>The shop</h1>;
}
