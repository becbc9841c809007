# The public headers as Doxygen wants them. Plain comments become documentation: of what follows, or of what they stand
# behind. The lines `---- title ----` become sections, and the list of statuses is spelled out.

# /* ---- 3. batch ------ */
/^\/\* ---- .* -+ \*\/$/ {
    title = $0
    sub(/^\/\* ---- ([0-9]+\. )?/, "", title)
    sub(/ -+ \*\/$/, "", title)
    print (in_section ? "/** @} */" : "") "\n/** @name " toupper(substr(title, 1, 1)) substr(title, 2) " */\n/** @{ */"
    in_section = 1
    next
}
/^#ifdef __cplusplus/ && in_section {
    print "/** @} */"
    in_section = 0
}

# The first comment is about the file.
NR == 1 {
    sub(/^\/\*/, "/** @file\n *")
}

# What is laid out by spaces stays so.
/^ \*   [0-9] / {
    sub(/\*   /, "*        ")
}

# X(OK, 0, "ok") \   is kept for where the list is used.
/^ *X\([A-Z]+, [0-9]+, "/ {
    split($0, part, /[(,"][(," ]*/)
    statuses = statuses "    GSA_" part[2] " = " part[3] ", /**< " part[4] " */\n"
}
/GSA_STATUS_LIST\(GSA_STATUS_ENTRY\)/ {
    print statuses
}
/GSA_STATUS_ENTRY/ {
    next
}

# uint64_t least, most; /* range */   is one for each.
/^ +[a-z0-9_]+ [a-z_]+(, [a-z_]+)+; *\/\* .*\*\/$/ {
    type = $1
    comment = substr($0, index($0, "/*") + 2)
    names = substr($0, index($0, type) + length(type) + 1)
    sub(/;.*/, "", names)
    n = split(names, name, ", ")
    for (i = 1; i <= n; i++)
        print "    " type " " name[i] "; /**<" comment
    next
}

/^ *\/\* / {
    sub(/\/\* /, "/** ")
    print
    next
}

{
    sub(/\/\* /, "/**< ")
    print
}
