from quorate.render.layout import Page, Piece, pieces, wrap


def text(lines: list[tuple[Piece, ...]]) -> list[str]:
    return ["".join(piece.text for piece in line).rstrip() for line in lines]


def test_a_line_that_fits_is_left_alone() -> None:
    assert text(wrap(pieces("  sends Ack()"), 80, 4)) == ["  sends Ack()"]


def test_what_does_not_fit_continues_under_a_hanging_indent() -> None:
    assert text(wrap(pieces("sends ", Piece("one two three", "message")), 12, 2)) == ["sends one", "  two three"]


def test_a_word_too_long_for_the_line_is_kept_whole_and_does_not_loop() -> None:
    assert text(wrap(pieces("a " + "x" * 30 + " b"), 10, 2)) == ["a " + "x" * 30, "  b"]


def test_words_may_span_styles() -> None:
    line = pieces("12345 ", Piece("ab", "before"), Piece("cd", "after"))
    assert text(wrap(line, 8, 0)) == ["12345", "abcd"]


def test_gaps_never_double_and_never_lead() -> None:
    page = Page()
    page.gap()
    page.add("a")
    page.gap()
    page.gap()
    page.add("b")
    assert page.plain() == "a\n\nb"


def test_a_table_aligns_its_right_side_and_wraps_under_itself() -> None:
    page = Page(width=20)
    page.table([("states", "12"), ("search", "one two three four")])
    assert page.plain().splitlines() == ["  states  12", "  search  one two", "          three four"]


def test_ascii_replaces_every_sign_that_is_not() -> None:
    page = Page()
    page.add("✓ ✗ ← → ·")
    assert page.plain(ascii_only=True).isascii()
